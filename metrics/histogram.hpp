// Durations in fixed buckets: 50 µs, 100 µs, … doubling up to 26.2144 s, and one for what is
// longer.
//
// Threads: one writer, any reader, as for counter. A reader may see an observation's bucket before
// its sum; the count is always the sum of the buckets.
#pragma once

#include "metrics/counter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace weir::metrics {

using std::chrono::nanoseconds;

// What histograms add up to at scrape time.
struct histogram_sum {
    static constexpr std::size_t bounds = 20;
    std::array<std::uint64_t, bounds + 1>
        buckets{};  // not cumulative; the last is beyond all bounds
    std::uint64_t nanoseconds = 0;
};

class histogram {
public:
    static constexpr std::size_t bounds = histogram_sum::bounds;

    // Upper bound of bucket k, which belongs to the bucket ("le").
    [[nodiscard]] static constexpr nanoseconds bound(std::size_t k) noexcept {
        return nanoseconds{unit << k};
    }

    // The bucket a duration belongs to: 0 … bounds.
    [[nodiscard]] static constexpr std::size_t bucket_of(nanoseconds duration) noexcept {
        // d <= unit * 2^k exactly when ceil(d / unit) <= 2^k.
        const auto ticks = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 1));
        const auto units = (ticks - 1) / static_cast<std::uint64_t>(unit) + 1;
        const auto k = static_cast<std::size_t>(std::bit_width(units - 1));
        return std::min(k, bounds);
    }

    // A negative duration counts as none.
    void observe(nanoseconds duration) noexcept {
        buckets_[bucket_of(duration)].add();
        sum_.add(static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0)));
    }

    void add_to(histogram_sum& sum) const noexcept {
        for (std::size_t k = 0; k < buckets_.size(); ++k) {
            sum.buckets[k] += buckets_[k].value();
        }
        sum.nanoseconds += sum_.value();
    }

private:
    static constexpr std::int64_t unit = 50'000;

    std::array<counter, bounds + 1> buckets_{};
    counter sum_;  // nanoseconds
};

}  // namespace weir::metrics
