// One limit of time for a chain of steps. Each step says how it is cut short. Belongs to one
// worker's thread.
#pragma once

#include "proxy/asio.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace weir::proxy::upstream {

class time_limit {
public:
    // The step under way, as long as it lives.
    class [[nodiscard]] step {
    public:
        step(time_limit& limit, std::function<void()> cut) : limit_(limit) {
            limit_.shared_->cut = std::move(cut);
        }

        step(const step&) = delete;
        step& operator=(const step&) = delete;
        step(step&&) = delete;
        step& operator=(step&&) = delete;

        ~step() { limit_.shared_->cut = nullptr; }

    private:
        time_limit& limit_;
    };

    // 0: no limit.
    time_limit(asio::io_context& io, std::chrono::milliseconds limit) : timer_(io) {
        if (limit == std::chrono::milliseconds::zero()) {
            return;
        }
        timer_.expires_after(limit);
        timer_.async_wait([shared = shared_](const error_code& ec) {
            if (ec || !shared->armed) {
                return;
            }
            shared->over = true;
            if (shared->cut) {
                shared->cut();
            }
        });
    }

    time_limit(const time_limit&) = delete;
    time_limit& operator=(const time_limit&) = delete;
    time_limit(time_limit&&) = delete;
    time_limit& operator=(time_limit&&) = delete;

    ~time_limit() { shared_->armed = false; }

    [[nodiscard]] bool over() const noexcept { return shared_->over; }

private:
    // The timer's handler may be on its way when the limit has gone.
    struct state {
        bool armed = true;
        bool over = false;
        std::function<void()> cut;
    };

    std::shared_ptr<state> shared_ = std::make_shared<state>();
    asio::steady_timer timer_;
};

}  // namespace weir::proxy::upstream
