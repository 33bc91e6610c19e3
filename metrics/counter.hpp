// Numbers that one thread writes and any thread may read.
//
// Threads: all writing verbs of one object belong to one thread (its worker); `value` may be called
// from anywhere. That is why an increment is a load and a store, not a locked instruction.
#pragma once

#include <atomic>
#include <cstdint>

namespace weir::metrics {

// Only grows.
class counter {
public:
    void add(std::uint64_t n = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }

    [[nodiscard]] std::uint64_t value() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::uint64_t> value_{0};
};

// Goes up and down. May be negative for one worker when a thing is opened by one and closed by
// another; the sum over the workers is what counts.
class gauge {
public:
    void add(std::int64_t n) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }

    void set(std::int64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }

    [[nodiscard]] std::int64_t value() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }

private:
    std::atomic<std::int64_t> value_{0};
};

}  // namespace weir::metrics
