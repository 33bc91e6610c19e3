#include "proxy/upstream/budget.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy::upstream {

budget::budget(std::uint32_t limit, unsigned workers) : shares_(workers), limit_(limit) {}

void budget::attach(unsigned worker, std::function<void()> poke) {
    const std::lock_guard lock(mutex_);
    shares_[worker].poke = std::move(poke);
}

void budget::detach(unsigned worker) {
    const std::lock_guard lock(mutex_);
    shares_[worker].poke = nullptr;
    if (std::exchange(shares_[worker].waiting, 0) != 0) {
        waiting_workers_.fetch_sub(1, std::memory_order_relaxed);
    }
}

bool budget::take(unsigned worker) {
    const std::lock_guard lock(mutex_);
    if (used() >= limit()) {
        return false;
    }
    // The last free slots go to whoever waits and holds less.
    const auto& mine = shares_[worker];
    const bool contested = std::any_of(shares_.begin(), shares_.end(), [&](const share& other) {
        return &other != &mine && other.waiting != 0 && other.held < mine.held;
    });
    if (contested && limit() - used() <= 1) {
        return false;
    }
    ++shares_[worker].held;
    used_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void budget::give_back(unsigned worker) {
    const std::lock_guard lock(mutex_);
    --shares_[worker].held;
    used_.fetch_sub(1, std::memory_order_relaxed);
    for (const auto& other : shares_) {
        if (other.waiting != 0 && other.poke) {
            other.poke();
        }
    }
}

void budget::waiting(unsigned worker, std::uint32_t clients) {
    const std::lock_guard lock(mutex_);
    const auto before = std::exchange(shares_[worker].waiting, clients);
    if ((before == 0) == (clients == 0)) {
        return;
    }
    if (clients == 0) {
        waiting_workers_.fetch_sub(1, std::memory_order_relaxed);
        return;
    }
    waiting_workers_.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        if (i != worker && shares_[i].poke) {
            shares_[i].poke();
        }
    }
}

bool budget::should_yield(unsigned worker, bool has_waiters) noexcept {
    if (waiting_workers_.load(std::memory_order_relaxed) == 0) {
        return false;
    }
    const std::lock_guard lock(mutex_);
    if (used() < limit()) {
        return false;  // they can open one of their own
    }
    const auto fair = std::max<std::uint32_t>(1, limit() / static_cast<std::uint32_t>(shares_.size()));
    const auto& mine = shares_[worker];
    return std::any_of(shares_.begin(), shares_.end(), [&](const share& other) {
        if (&other == &mine || other.waiting == 0) {
            return false;
        }
        return !has_waiters || (other.held < fair && mine.held > other.held);
    });
}

}  // namespace weir::proxy::upstream
