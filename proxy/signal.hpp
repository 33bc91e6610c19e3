// Coroutines wait, mostly one, and somebody on the same thread wakes them. A wake-up that comes
// first is remembered.
#pragma once

#include "proxy/asio.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <utility>

namespace weir::proxy {

class signal {
public:
    explicit signal(asio::io_context& io) : io_(io) {}

    signal(const signal&) = delete;
    signal& operator=(const signal&) = delete;
    signal(signal&&) = delete;
    signal& operator=(signal&&) = delete;

    ~signal() { notify(); }

    [[nodiscard]] asio::awaitable<void> wait() {
        return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
            [this](auto handler) {
                auto added = std::make_unique<waiter_of<decltype(handler)>>(std::move(handler));
                added->next = std::move(waiter_);
                waiter_ = std::move(added);
                if (set_) {
                    notify();
                }
            },
            asio::use_awaitable
        );
    }

    void notify() {
        if (!waiter_) {
            set_ = true;
            return;
        }
        set_ = false;
        while (waiter_) {
            auto next = std::move(waiter_->next);
            asio::post(io_, [waiter = std::move(waiter_)] { waiter->resume(); });
            waiter_ = std::move(next);
        }
    }

    void clear() noexcept { set_ = false; }

    [[nodiscard]] bool waiting() const noexcept { return waiter_ != nullptr; }

private:
    // Boost 1.81's any_completion_handler recurses without end when it is moved into another
    // handler.
    struct waiter {
        waiter() = default;
        waiter(const waiter&) = delete;
        waiter& operator=(const waiter&) = delete;
        waiter(waiter&&) = delete;
        waiter& operator=(waiter&&) = delete;
        virtual ~waiter() = default;
        virtual void resume() = 0;
        std::unique_ptr<waiter> next{};
    };

    template <class Handler>
    struct waiter_of final : waiter {
        explicit waiter_of(Handler&& with) : handler(std::move(with)) {}

        void resume() override { std::move(handler)(); }

        Handler handler;
    };

    asio::io_context& io_;
    std::unique_ptr<waiter> waiter_;
    bool set_ = false;
};

}  // namespace weir::proxy
