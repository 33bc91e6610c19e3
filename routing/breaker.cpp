#include "routing/breaker.hpp"

#include <algorithm>
#include <cassert>

namespace weir::routing {

bool may_follow(breaker_state from, breaker_state to) noexcept {
    switch (to) {
    case breaker_state::closed: return true;
    case breaker_state::open: return from != breaker_state::open;
    case breaker_state::half_open: return from == breaker_state::open;
    }
    return false;
}

void breaker::set_state(breaker_state to) noexcept {
    assert(may_follow(state_, to));
    state_ = to;
}

bool breaker::would_allow(steady_time now) const noexcept {
    return state_ == breaker_state::closed || (state_ == breaker_state::open && now >= until_);
}

bool breaker::allow(steady_time now) noexcept {
    if (!would_allow(now)) {
        return false;
    }
    if (state_ == breaker_state::open) {
        set_state(breaker_state::half_open);
    }
    return true;
}

void breaker::succeeded() noexcept {
    failures_ = 0;
    wait_ = {};
    set_state(breaker_state::closed);
}

void breaker::failed(steady_time now, random_source& random) noexcept {
    ++failures_;
    if (state_ == breaker_state::half_open ||
        (state_ == breaker_state::closed && failures_ >= options_.failures)) {
        open(now, random);
    }
}

void breaker::refused(steady_time now, random_source& random) noexcept {
    ++failures_;
    if (state_ != breaker_state::open) {
        open(now, random);
    }
}

void breaker::open(steady_time now, random_source& random) noexcept {
    wait_ = std::min(options_.longest_wait, wait_.count() == 0 ? options_.first_wait : 2 * wait_);
    const double stretched =
        static_cast<double>(wait_.count()) * (1 + options_.jitter * random.unit());
    until_ = now + milliseconds{static_cast<milliseconds::rep>(stretched)};
    set_state(breaker_state::open);
}

}  // namespace weir::routing
