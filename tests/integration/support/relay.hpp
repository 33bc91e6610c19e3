// A TCP relay between the proxy and a server, for what the network may do to a stream: it hands on
// the server's bytes in pieces of a given size, each sent by itself, or nothing at all for a while.
#pragma once

#include "tests/integration/support/file_descriptor.hpp"

#include <atomic>
#include <cstddef>
#include <list>
#include <mutex>
#include <thread>

namespace weir::integration {

class relay {
public:
    // Pieces of `size` bytes towards the proxy; 0: as they come.
    relay(const endpoint& server, std::size_t size);
    ~relay();

    relay(const relay&) = delete;
    relay& operator=(const relay&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    void set_size(std::size_t size) noexcept { size_ = size; }

    // Hands on nothing in either direction while it is set.
    void hold(bool on) noexcept { held_ = on; }

private:
    struct pair {
        file_descriptor client;
        file_descriptor server;
        std::jthread thread;
    };

    void accept_loop();
    void serve(const file_descriptor& client, const file_descriptor& server) const;
    // What one side has sent, to the other; false at the end of the stream.
    [[nodiscard]] bool
    hand_on(const file_descriptor& from, const file_descriptor& to, std::size_t size) const;

    endpoint server_;
    std::atomic<std::size_t> size_;
    std::atomic<bool> held_ = false;
    std::atomic<bool> stop_ = false;
    file_descriptor listener_;
    std::uint16_t port_ = 0;
    std::list<pair> pairs_;  // touched by the accepting thread only, until it has ended
    std::jthread acceptor_;
};

}  // namespace weir::integration
