#include "tests/integration/slow_cancel_relay.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <exception>
#include <stdexcept>
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

// What has come; throws at the end of the stream.
void hand_on(const file_descriptor& from, const file_descriptor& to) {
    const auto bytes = read_some(from, 65536, std::chrono::steady_clock::now() + patience);
    if (bytes.empty()) {
        throw std::runtime_error("end of stream");
    }
    write_all(to, bytes);
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
            sessions_.emplace_back([this, client = std::move(client)]() { serve(client); });
        }
    }
}

void slow_cancel_relay::serve(const file_descriptor& client) {
    try {
        const auto server = dial(server_);
        bool first = true;
        while (!stop_) {
            pollfd both[2];
            if (!wait_for(client, server, both)) {
                continue;
            }
            if (both[0].revents != 0) {
                delay_cancel(client, std::exchange(first, false));
                hand_on(client, server);
            }
            if (both[1].revents != 0) {
                hand_on(server, client);
            }
        }
    } catch (const std::exception&) {
        // One side has gone; the other is closed with this thread's end.
    }
}

void slow_cancel_relay::delay_cancel(const file_descriptor& from, bool first) {
    char head[8] = "";
    if (first && recv(from.get(), head, sizeof head, MSG_PEEK) == sizeof head &&
        is_cancel({head, sizeof head})) {
        ++cancels_;
        std::this_thread::sleep_for(delay_);
    }
}

}  // namespace weir::integration
