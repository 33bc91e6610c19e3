// An owned file descriptor, and the few socket calls the tests need.
#pragma once

#include "tests/integration/support/wait.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace weir::integration {

struct endpoint {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
};

class file_descriptor {
public:
    file_descriptor() = default;

    explicit file_descriptor(int number) noexcept : number_(number) {}

    file_descriptor(file_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

    file_descriptor& operator=(file_descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }

    file_descriptor(const file_descriptor&) = delete;
    file_descriptor& operator=(const file_descriptor&) = delete;

    ~file_descriptor() { reset(); }

    [[nodiscard]] int get() const noexcept { return number_; }

    explicit operator bool() const noexcept { return number_ >= 0; }

    void reset() noexcept;

private:
    int number_ = -1;
};

// A connected TCP socket without Nagle's delay. Throws std::system_error.
[[nodiscard]] file_descriptor dial(const endpoint& to);
// An empty descriptor when nobody listens there.
[[nodiscard]] file_descriptor try_dial(const endpoint& to);
// A listening socket on loopback; 0: any port.
[[nodiscard]] file_descriptor listen_on(std::uint16_t port);
[[nodiscard]] std::uint16_t port_of(const file_descriptor& socket);
// A port nobody listens on, below the range the kernel gives to outgoing connections.
[[nodiscard]] std::uint16_t free_port();

// Close with RST, as a killed machine would.
void reset_on_close(const file_descriptor& socket);

// All bytes. Throws std::system_error when the peer is gone, std::runtime_error when it does not
// read in time.
void write_all(const file_descriptor& to, std::string_view bytes, milliseconds limit = patience);
// What has come, at most `most` bytes; empty at the end of the stream. A reset counts as the end.
// Throws std::runtime_error when nothing comes until then.
[[nodiscard]] std::string
read_some(const file_descriptor& from, std::size_t most, time_point until);

// The body of an HTTP answer and its status; status 0 when nobody answers.
struct http_answer {
    int status = 0;
    std::string body;
};

[[nodiscard]] http_answer http_get(const endpoint& from, std::string_view path);

}  // namespace weir::integration
