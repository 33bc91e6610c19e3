// The HTTP listener for metrics and health, on the control thread. Small on purpose: GET and HEAD,
// no request bodies, few connections.
#pragma once

#include "proxy/asio.hpp"
#include "proxy/http/pages.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace weir::proxy {

struct http_limits {
    std::size_t connections = 64;     // more are closed at once
    std::size_t header_bytes = 8192;  // beyond: 431
    std::chrono::milliseconds request =
        std::chrono::seconds{10};  // to send a first request, to take an answer
    std::chrono::milliseconds idle = std::chrono::seconds{60};  // until the next request has come
};

// Threads: everything on the thread that runs `io`. Errors: listen() returns them; what goes wrong
// with a connection ends that connection.
class http_server {
public:
    http_server(asio::io_context& io, http_sources sources, http_limits limits = {});
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;
    ~http_server();  // stops

    // `address` is a numeric IPv4 or IPv6 address; port 0 takes a free one.
    [[nodiscard]] error_code listen(const std::string& address, std::uint16_t port);
    [[nodiscard]] std::uint16_t port() const;

    // Closes the listener and every connection.
    void stop();

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace weir::proxy
