#include "tests/integration/support/relay.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <exception>

namespace weir::integration {
namespace {

constexpr int tick_ms = 20;

}  // namespace

relay::relay(const endpoint& server, std::size_t size)
    : server_(server), size_(size), listener_(listen_on(0)), port_(port_of(listener_)) {
    acceptor_ = std::jthread([this] { accept_loop(); });
}

relay::~relay() {
    stop_ = true;
    acceptor_.join();
    pairs_.clear();
}

void relay::accept_loop() {
    while (!stop_) {
        pollfd one{listener_.get(), POLLIN, 0};
        if (poll(&one, 1, tick_ms) <= 0) {
            continue;
        }
        auto& made = pairs_.emplace_back();
        made.client = file_descriptor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        made.server = try_dial(server_);
        if (!made.client || !made.server) {
            pairs_.pop_back();
            continue;
        }
        const int on = 1;
        setsockopt(made.client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        made.thread = std::jthread([this, &made] { serve(made.client, made.server); });
    }
}

void relay::serve(const file_descriptor& client, const file_descriptor& server) const {
    try {
        bool open = true;
        while (open && !stop_) {
            std::array<pollfd, 2> both{{{client.get(), POLLIN, 0}, {server.get(), POLLIN, 0}}};
            if (poll(both.data(), held_ ? 0 : both.size(), tick_ms) <= 0) {
                continue;
            }
            open = (both[0].revents == 0 || hand_on(client, server, 0)) &&
                   (both[1].revents == 0 || hand_on(server, client, size_));
        }
    } catch (const std::exception&) {
        // As when one side closes.
    }
    shutdown(client.get(), SHUT_RDWR);
    shutdown(server.get(), SHUT_RDWR);
}

bool relay::hand_on(const file_descriptor& from, const file_descriptor& to, std::size_t size)
    const {
    const auto read = read_some(from, 65536, std::chrono::steady_clock::now() + patience);
    std::string_view left = read;
    if (size == 0) {
        write_all(to, left);
        return !read.empty();
    }
    while (!left.empty() && !stop_) {
        const auto piece = left.substr(0, size);
        write_all(to, piece);
        left.remove_prefix(piece.size());
        // Gives the proxy the time to read it, so that the next piece arrives by itself.
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return !read.empty();
}

}  // namespace weir::integration
