// A TCP relay in front of a server that keeps each CancelRequest for a while before it hands it
// on, as a slow network or a proxy in between does; everything else passes at once.
#pragma once

#include "tests/integration/support/file_descriptor.hpp"

#include <atomic>
#include <list>
#include <thread>

namespace weir::integration {

class slow_cancel_relay {
public:
    slow_cancel_relay(endpoint server, milliseconds delay);
    ~slow_cancel_relay();

    slow_cancel_relay(const slow_cancel_relay&) = delete;
    slow_cancel_relay& operator=(const slow_cancel_relay&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    // How many came by.
    [[nodiscard]] int cancels() const noexcept { return cancels_; }

private:
    void accept_all();
    void serve(const file_descriptor& client);
    // Waits if these are the first bytes of a connection and a CancelRequest.
    void delay_cancel(const file_descriptor& from, bool first);

    endpoint server_;
    milliseconds delay_;
    std::atomic<int> cancels_ = 0;
    std::atomic<bool> stop_ = false;
    file_descriptor listener_;
    std::uint16_t port_ = 0;
    std::list<std::jthread> sessions_;  // touched by the accepting thread only, until it has ended
    std::jthread acceptor_;
};

}  // namespace weir::integration
