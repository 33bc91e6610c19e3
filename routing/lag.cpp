#include "routing/lag.hpp"

#include <algorithm>

namespace weir::routing {

namespace {

using duration = steady_time::duration;

milliseconds at_least_zero(milliseconds value) {
    return std::max(value, milliseconds{0});
}

milliseconds rounded(duration value) {
    return at_least_zero(std::chrono::round<milliseconds>(value));
}

milliseconds rounded_up(duration value) {
    return at_least_zero(std::chrono::ceil<milliseconds>(value));
}

}  // namespace

void position_history::add(steady_time taken, lsn at) {
    if (!samples_.empty()) {
        sample& last = samples_.back();
        if (taken < last.taken) {
            return;
        }
        if (at == last.at) {
            last.taken = taken;
            return;
        }
        if (at < last.at) {
            samples_.clear();
        }
    }
    if (samples_.size() >= capacity) {
        thin();
    }
    samples_.push_back({taken, at});
}

void position_history::thin() {
    const std::size_t half = samples_.size() / 2;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
        if (i >= half || i % 2 == 0) {
            samples_[kept++] = samples_[i];
        }
    }
    samples_.resize(kept);
}

lag_estimate position_history::estimate(lsn replica, steady_time taken) const {
    if (samples_.empty()) {
        return {};
    }
    const auto next =
        std::upper_bound(samples_.begin(), samples_.end(), replica, [](lsn at, const sample& s) {
            return at < s.at;
        });
    if (next == samples_.begin()) {
        const auto elapsed = taken - next->taken;
        return {false, rounded(elapsed), rounded_up(elapsed)};
    }
    const sample& before = *std::prev(next);
    const milliseconds proven = rounded_up(taken - before.taken);
    if (next == samples_.end()) {
        // Nothing the primary is known to have is missing.
        return {true, milliseconds{0}, proven};
    }
    const auto way = static_cast<double>(replica.value - before.at.value) /
                     static_cast<double>(next->at.value - before.at.value);
    const std::chrono::duration<double, duration::period> span = next->taken - before.taken;
    const auto passed = before.taken + std::chrono::duration_cast<duration>(span * way);
    return {true, rounded(taken - passed), proven};
}

}  // namespace weir::routing
