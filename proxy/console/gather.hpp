// Asks every worker for its part by message and waits on the asking worker's loop. No locks: each
// part is made on its worker's thread and handed over on the home thread.
#pragma once

#include "proxy/asio.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace weir::proxy::console {

// A worker that has stopped, or hangs, never answers.
constexpr std::chrono::seconds gather_limit{5};

template <class Part>
struct gathering {
    explicit gathering(std::size_t count) : parts(count), missing(count) {}

    std::vector<Part> parts;
    std::size_t missing;
    asio::steady_timer* done = nullptr;  // of the coroutine that waits; home thread only

    void put(std::size_t index, Part&& part) {
        parts[index] = std::move(part);
        if (--missing == 0 && done != nullptr) {
            done->cancel();
        }
    }
};

// `make` is called once on each worker's thread, at the same time on several: it must not change
// what it holds. The parts come in the order of `all`; none if somebody did not answer in time.
// Worker has `io` and post(); Part must be default constructible.
template <class Worker, class F>
asio::awaitable<std::optional<std::vector<std::invoke_result_t<const F&, Worker&>>>> gather(
    Worker& home,
    std::vector<Worker*> all,
    F make,
    std::chrono::milliseconds limit = gather_limit
) {
    using part = std::invoke_result_t<const F&, Worker&>;
    const auto state = std::make_shared<gathering<part>>(all.size());
    asio::steady_timer done(home.io, limit);
    state->done = &done;
    for (std::size_t i = 0; i < all.size(); ++i) {
        Worker* const asked = all[i];
        asked->post([state, i, asked, &home, make] {
            home.post([state, i, made = make(*asked)]() mutable { state->put(i, std::move(made)); }
            );
        });
    }
    if (!all.empty()) {
        const auto [wait_ec] = co_await done.async_wait(use_tuple);
        static_cast<void>(wait_ec);
    }
    state->done = nullptr;
    if (state->missing != 0) {
        co_return std::nullopt;
    }
    co_return std::move(state->parts);
}

}  // namespace weir::proxy::console
