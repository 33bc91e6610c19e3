#include "proxy/upstream/budget.hpp"

#include <algorithm>
#include <limits>
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
        poke_waiting();
    }
}

std::uint32_t budget::better_claims(const share& mine) const noexcept {
    // Whoever does not wait yet comes last.
    const auto turn = mine.waiting != 0 ? mine.turn : std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint32_t>(std::count_if(
        shares_.begin(),
        shares_.end(),
        [&](const share& other) {
            return &other != &mine && other.waiting != 0 &&
                   (other.held < mine.held || (other.held == mine.held && other.turn < turn));
        }
    ));
}

void budget::poke_waiting() const {
    if (used() >= limit()) {
        return;
    }
    for (const auto& each : shares_) {
        if (each.waiting != 0 && each.poke) {
            each.poke();
        }
    }
}

void budget::poke_others(unsigned worker) const {
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        if (i != worker && shares_[i].poke) {
            shares_[i].poke();
        }
    }
}

bool budget::take(unsigned worker) {
    const std::lock_guard lock(mutex_);
    auto& mine = shares_[worker];
    if (used() >= limit() || limit() - used() <= better_claims(mine)) {
        return false;
    }
    ++mine.held;
    mine.turn = ++turns_;
    mine.fresh = true;
    used_.fetch_add(1, std::memory_order_relaxed);
    // This slot is for one of those who wait here.
    const auto waits =
        waiting_workers_.load(std::memory_order_relaxed) - (mine.waiting == 1 ? 1U : 0U);
    if (used() == limit() && waits != 0) {
        poke_others(worker);  // from now on only an idle connection helps those who wait
    }
    return true;
}

void budget::give_back(unsigned worker) {
    const std::lock_guard lock(mutex_);
    --shares_[worker].held;
    used_.fetch_sub(1, std::memory_order_relaxed);
    poke_waiting();
}

void budget::begin_return(unsigned worker) {
    const std::lock_guard lock(mutex_);
    --shares_[worker].held;
    ++returning_;
}

void budget::end_return() {
    const std::lock_guard lock(mutex_);
    --returning_;
    used_.fetch_sub(1, std::memory_order_relaxed);
    poke_waiting();
}

void budget::waiting(unsigned worker, std::uint32_t clients) {
    const std::lock_guard lock(mutex_);
    const auto before = std::exchange(shares_[worker].waiting, clients);
    if ((before == 0) == (clients == 0)) {
        return;
    }
    if (clients == 0) {
        waiting_workers_.fetch_sub(1, std::memory_order_relaxed);
        poke_waiting();  // a slot that was kept for this worker is free for others
        return;
    }
    waiting_workers_.fetch_add(1, std::memory_order_relaxed);
    poke_others(worker);
}

bool budget::should_yield(unsigned worker, bool has_waiters) noexcept {
    if (waiting_workers_.load(std::memory_order_relaxed) == 0) {
        return false;
    }
    const std::lock_guard lock(mutex_);
    if (used() < limit() + returning_) {
        return false;  // they can open one of their own, or will in a moment
    }
    const auto fair =
        std::max<std::uint32_t>(1, limit() / static_cast<std::uint32_t>(shares_.size()));
    auto& mine = shares_[worker];
    if (std::exchange(mine.fresh, false) && has_waiters) {
        return false;
    }
    const bool yields = std::any_of(shares_.begin(), shares_.end(), [&](const share& other) {
        if (&other == &mine || other.waiting == 0) {
            return false;
        }
        return !has_waiters || (other.held < fair && mine.held > other.held);
    });
    if (yields) {
        mine.turn = ++turns_;  // or it would take the slot back before the others are awake
    }
    return yields;
}

}  // namespace weir::proxy::upstream
