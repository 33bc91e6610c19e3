// One coroutine waits, somebody on the same thread wakes it. A wake-up that comes first is remembered.
#pragma once

#include "proxy/asio.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace weir::proxy {

class signal {
public:
    explicit signal(asio::io_context& io) : io_(io) {}
    signal(const signal&) = delete;
    signal& operator=(const signal&) = delete;
    ~signal() { notify(); }

    // At most one waiter at a time.
    [[nodiscard]] asio::awaitable<void> wait() {
        return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
            [this](auto handler) {
                handler_ = std::move(handler);
                if (set_) {
                    notify();
                }
            },
            asio::use_awaitable
        );
    }

    void notify() {
        if (!handler_) {
            set_ = true;
            return;
        }
        set_ = false;
        asio::post(io_, std::exchange(handler_, nullptr));
    }

    void clear() noexcept { set_ = false; }
    [[nodiscard]] bool waiting() const noexcept { return static_cast<bool>(handler_); }

private:
    asio::io_context& io_;
    asio::any_completion_handler<void()> handler_;
    bool set_ = false;
};

}  // namespace weir::proxy
