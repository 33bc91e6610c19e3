// Stops using a server that fails, and finds out gently when it works again.
#pragma once

#include "routing/random.hpp"
#include "routing/topology.hpp"

#include <chrono>
#include <cstdint>

namespace weir::routing {

//              failures reach the limit, or a refusal
//   closed ───────────────────────────────────────────▶ open ◀──┐
//      ▲                                                 │      │ the trial fails:
//      │ the trial succeeds            back-off has passed│      │ twice the back-off
//      └───────────────────────── half_open ◀────────────┘      │
//                                     └──────────────────────────┘
// A success while open closes it as well: somebody proved that the server works.
enum class breaker_state : std::uint8_t {
    closed,     // all may use the server
    open,       // nobody may, until the back-off has passed
    half_open,  // one trial is under way, nobody else may
};

[[nodiscard]] bool may_follow(breaker_state from, breaker_state to) noexcept;

struct breaker_options {
    std::uint32_t failures = 3;    // in a row, that open it
    milliseconds first_wait{200};  // back-off after the first opening, doubled by each failed trial
    milliseconds longest_wait{30000};
    double jitter =
        0.2;  // the back-off is stretched by up to this part, so that workers do not march in step
};

class breaker {
public:
    explicit breaker(const breaker_options& options = {}) : options_(options) {}

    // True if the caller may use the server now. In the open state the first call after the
    // back-off gets the trial and must report how it went.
    [[nodiscard]] bool allow(steady_time now) noexcept;
    // The same without taking the trial.
    [[nodiscard]] bool would_allow(steady_time now) const noexcept;

    void succeeded() noexcept;
    void failed(steady_time now, random_source& random) noexcept;
    // A refused connection leaves no doubt: opens at once.
    void refused(steady_time now, random_source& random) noexcept;

    [[nodiscard]] breaker_state state() const noexcept { return state_; }

    [[nodiscard]] steady_time open_until() const noexcept { return until_; }

private:
    void set_state(breaker_state to) noexcept;
    void open(steady_time now, random_source& random) noexcept;

    breaker_options options_;
    breaker_state state_ = breaker_state::closed;
    std::uint32_t failures_ = 0;  // in a row
    milliseconds wait_{};         // the next back-off; 0: the first
    steady_time until_{};
};

}  // namespace weir::routing
