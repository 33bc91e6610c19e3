// A server that takes connections and says nothing: whoever logs in waits.
#pragma once

#include <doctest/doctest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace weir::migration::test {

class silent_server {
public:
    silent_server() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* at = reinterpret_cast<sockaddr*>(&where);
        socklen_t size = sizeof(where);
        REQUIRE(::bind(listener_, at, size) == 0);
        REQUIRE(::listen(listener_, 8) == 0);
        REQUIRE(::getsockname(listener_, at, &size) == 0);
        port = ntohs(where.sin_port);
    }

    silent_server(const silent_server&) = delete;
    silent_server& operator=(const silent_server&) = delete;

    ~silent_server() { close(); }

    // Waits for one.
    void accept() { client_ = ::accept(listener_, nullptr, nullptr); }

    [[nodiscard]] bool client_waits() const {
        std::array<char, 4096> bytes{};
        ssize_t size = 0;
        do {
            size = ::recv(client_, bytes.data(), bytes.size(), MSG_DONTWAIT);
        } while (size > 0);
        return size < 0 && errno == EAGAIN;
    }

    void close() {
        for (auto* one : {&client_, &listener_}) {
            if (*one >= 0) {
                ::close(std::exchange(*one, -1));
            }
        }
    }

    std::uint16_t port = 0;

private:
    int listener_ = -1;
    int client_ = -1;
};

}  // namespace weir::migration::test
