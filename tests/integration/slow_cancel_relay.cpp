#include "tests/integration/slow_cancel_relay.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace weir::integration {
namespace {

constexpr std::string_view cancel_code("\x04\xd2\x16\x2e", 4);  // 80877102
constexpr int turn_ms = 50;                                     // how soon an end is noticed

bool is_cancel(std::string_view first) {
    return first.size() >= 8 && first.substr(4, 4) == cancel_code;
}

// Waits for bytes on either side; false when nothing came within a turn.
bool wait_for(const file_descriptor& one, const file_descriptor& other, pollfd (&both)[2]) {
    both[0] = {.fd = one.get(), .events = POLLIN, .revents = 0};
    both[1] = {.fd = other.get(), .events = POLLIN, .revents = 0};
    return poll(both, 2, turn_ms) > 0;
}

}  // namespace

slow_cancel_relay::slow_cancel_relay(endpoint server, milliseconds delay)
    : server_(std::move(server)),
      delay_(delay),
      listener_(listen_on(0)),
      port_(port_of(listener_)),
      acceptor_([this] { accept_all(); }) {}

slow_cancel_relay::~slow_cancel_relay() {
    stop_ = true;
    acceptor_.join();
    sessions_.clear();
}

void slow_cancel_relay::accept_all() {
    while (!stop_) {
        pollfd waiting{.fd = listener_.get(), .events = POLLIN, .revents = 0};
        if (poll(&waiting, 1, turn_ms) != 1) {
            continue;
        }
        file_descriptor client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (client) {
            sessions_.emplace_back([this, client = std::move(client)]() mutable {
                try {
                    serve(std::move(client));
                } catch (const std::exception&) {
                    // One side has gone; the sockets close with this thread.
                }
            });
        }
    }
}

void slow_cancel_relay::serve(file_descriptor client) {
    const auto server = dial(server_);
    bool first = true;
    while (!stop_) {
        pollfd both[2];
        if (!wait_for(client, server, both)) {
            continue;
        }
        for (const bool from_client : {true, false}) {
            if (both[from_client ? 0 : 1].revents == 0) {
                continue;
            }
            const auto& from = from_client ? client : server;
            const auto bytes = read_some(from, 65536, std::chrono::steady_clock::now() + patience);
            if (bytes.empty()) {
                return;
            }
            if (from_client && std::exchange(first, false) && is_cancel(bytes)) {
                ++cancels_;
                std::this_thread::sleep_for(delay_);
            }
            write_all(from_client ? server : client, bytes);
        }
    }
}

}  // namespace weir::integration
