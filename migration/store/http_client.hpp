// HTTP/1.1 to a store: connections kept alive, TLS verified by name, a deadline for every request.
#pragma once

#include "migration/store/error.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::migration::store {

struct http_options {
    std::string url{};  // "http://host:port/path" or "https://…"; requests' targets come behind it
    std::vector<std::pair<std::string, std::string>> headers{};  // sent with every request; secret
    std::string ca{};  // PEM file to trust instead of the system's; empty: the system's
    std::chrono::milliseconds connect_timeout{10'000};
    std::chrono::milliseconds request_timeout{60'000};  // from the first byte sent to the last read
    std::size_t max_answer = std::size_t{512} << 20;    // bytes of one answer's body
    bool gzip = false;                                  // bodies over 1 KiB go compressed
};

struct http_request {
    std::string_view method = "POST";  // GET, POST, PUT, PATCH, DELETE
    std::string target{};              // "/v2/…", percent-encoded
    std::string_view body{};           // JSON, or empty
};

struct http_answer {
    unsigned status = 0;
    std::string body;
    std::optional<std::chrono::milliseconds> retry_after{};
};

// Threads: one at a time. Blocks. Never retries what may have been carried out: only a request on a
// reused connection that was closed before a byte of the answer came is sent once more.
class http_client {
public:
    // Throws config errors (a URL that is none, a CA file that cannot be read) as
    // std::runtime_error.
    explicit http_client(http_options options);
    http_client(const http_client&) = delete;
    http_client& operator=(const http_client&) = delete;
    ~http_client();

    // An answer of any status; the error is always fault::unreachable, with the address and what
    // happened in its text.
    [[nodiscard]] result<http_answer> send(const http_request& what);

    // "https://host:port", for messages.
    [[nodiscard]] const std::string& address() const noexcept;

private:
    class implementation;
    std::unique_ptr<implementation> implementation_;
};

}  // namespace weir::migration::store
