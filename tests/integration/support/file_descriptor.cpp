#include "tests/integration/support/file_descriptor.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <random>
#include <stdexcept>
#include <system_error>

namespace weir::integration {
namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_in address_of(const endpoint& where) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(where.port);
    if (inet_pton(AF_INET, where.host.c_str(), &address.sin_addr) != 1) {
        throw std::runtime_error("not an IPv4 address: " + where.host);
    }
    return address;
}

file_descriptor tcp_socket() {
    file_descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!made) {
        fail("socket");
    }
    return made;
}

bool bind_to(const file_descriptor& socket, std::uint16_t port) {
    const int on = 1;
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const auto address = address_of({.host = "127.0.0.1", .port = port});
    return bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

void wait_for(const file_descriptor& socket, short events, time_point until, const char* what) {
    pollfd one{socket.get(), events, 0};
    int ready = 0;
    do {
        ready = poll(&one, 1, left_ms(until));
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        throw std::runtime_error(std::string("time is up: ") + what);
    }
}

}  // namespace

void file_descriptor::reset() noexcept {
    if (number_ >= 0) {
        close(std::exchange(number_, -1));
    }
}

file_descriptor try_dial(const endpoint& to) {
    auto made = tcp_socket();
    const auto address = address_of(to);
    if (connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return {};
    }
    const int on = 1;
    setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return made;
}

file_descriptor dial(const endpoint& to) {
    auto made = try_dial(to);
    if (!made) {
        fail("connect");
    }
    return made;
}

file_descriptor listen_on(std::uint16_t port) {
    auto made = tcp_socket();
    if (!bind_to(made, port) || listen(made.get(), 128) != 0) {
        fail("listen");
    }
    return made;
}

std::uint16_t port_of(const file_descriptor& socket) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        fail("getsockname");
    }
    return ntohs(address.sin_port);
}

std::uint16_t free_port() {
    std::random_device source;
    std::uniform_int_distribution<int> any(10'000, 32'000);
    for (int attempt = 0; attempt < 1000; ++attempt) {
        const auto port = static_cast<std::uint16_t>(any(source));
        if (bind_to(tcp_socket(), port)) {
            return port;
        }
    }
    throw std::runtime_error("no free port");
}

void reset_on_close(const file_descriptor& socket) {
    const linger now{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

void write_all(const file_descriptor& to, std::string_view bytes, milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!bytes.empty()) {
        wait_for(to, POLLOUT, until, "the peer does not read");
        const auto written =
            send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (written < 0 && errno != EAGAIN && errno != EINTR) {
            fail("send");
        }
        bytes.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
}

std::string read_some(const file_descriptor& from, std::size_t most, time_point until) {
    std::string bytes(most, '\0');
    wait_for(from, POLLIN, until, "nothing to read");
    const auto got = recv(from.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && errno != ECONNRESET) {
        fail("recv");
    }
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
}

http_answer http_get(const endpoint& from, std::string_view path) {
    const auto socket = try_dial(from);
    if (!socket) {
        return {};
    }
    write_all(socket, "GET " + std::string(path) + " HTTP/1.0\r\nHost: localhost\r\n\r\n");
    const auto until = std::chrono::steady_clock::now() + patience;
    std::string text;
    for (auto more = read_some(socket, 65536, until); !more.empty();
         more = read_some(socket, 65536, until)) {
        text += more;
    }
    http_answer answer;
    const auto status = text.find(' ');
    const auto body = text.find("\r\n\r\n");
    if (status != std::string::npos && body != std::string::npos) {
        std::from_chars(text.data() + status + 1, text.data() + text.size(), answer.status);
        answer.body = text.substr(body + 4);
    }
    return answer;
}

}  // namespace weir::integration
