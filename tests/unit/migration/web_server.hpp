// A web server for tests that answers by a script, one connection at a time, on a thread of its
// own.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::migration::store {

// A certificate authority and certificate in one: for localhost and 127.0.0.1, in a PEM file that
// goes with the object.
class test_certificate {
public:
    test_certificate();
    test_certificate(const test_certificate&) = delete;
    test_certificate& operator=(const test_certificate&) = delete;
    ~test_certificate();

    // Holds the certificate and its key.
    [[nodiscard]] const std::string& file() const noexcept { return file_; }

private:
    std::string file_;
};

struct web_step {
    enum class then : std::uint8_t { keep, close, reset };
    std::string answer;  // bytes as they are; empty: nothing is sent
    then after = then::keep;
    // No answer until the client has gone.
    bool hang = false;
};

class web_server {
public:
    // Speaks TLS with this certificate; nullptr: plain.
    explicit web_server(std::deque<web_step> script, const test_certificate* certificate = nullptr);
    web_server(const web_server&) = delete;
    web_server& operator=(const web_server&) = delete;
    ~web_server();

    [[nodiscard]] std::string port() const { return std::to_string(port_); }

    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + port(); }

    // Requests so far, each with its body.
    [[nodiscard]] std::vector<std::string> requests() const;

    [[nodiscard]] int connections() const noexcept { return connections_; }

private:
    struct connection;
    void serve();
    void talk(connection& with);
    bool next(web_step& into);

    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::shared_ptr<void> tls_;
    mutable std::mutex lock_;
    std::deque<web_step> script_;
    std::vector<std::string> requests_;
    std::atomic<int> connections_ = 0;
    std::atomic<int> current_ = -1;
    std::atomic<bool> ending_ = false;
    std::thread thread_;
};

// "HTTP/1.1 200 OK" with the body and its length.
[[nodiscard]] std::string ok(const std::string& body, const std::string& headers = "");

}  // namespace weir::migration::store
