// How far the store is behind the primary. Pure.
#pragma once

#include <cstdint>
#include <deque>

namespace weir::migration {

// Threads: the caller's lock.
class lag_clock {
public:
    // A transaction that ends at `position` was committed then, in microseconds since 1970.
    void committed(std::uint64_t position, std::int64_t at) {
        if (waiting_.size() < most_) {
            waiting_.push_back({position, at});
        }
        seen(position);
    }

    // The primary's WAL goes at least this far.
    void seen(std::uint64_t position) {
        if (position > end_) {
            end_ = position;
        }
    }

    // Everything before `position` is in the store.
    void reached(std::uint64_t position) {
        reached_ = position;
        while (!waiting_.empty() && waiting_.front().position <= position) {
            waiting_.pop_front();
        }
    }

    [[nodiscard]] std::uint64_t bytes() const { return end_ > reached_ ? end_ - reached_ : 0; }

    // Age of the oldest commit that is not in the store; 0 if all are.
    [[nodiscard]] double seconds(std::int64_t now) const {
        if (waiting_.empty() || waiting_.front().at == 0 || now < waiting_.front().at) {
            return 0.0;
        }
        return static_cast<double>(now - waiting_.front().at) / 1e6;
    }

private:
    struct commit {
        std::uint64_t position;
        std::int64_t at;
    };

    // Later ones are not needed for the age of the oldest until these are gone; what is then not
    // known is taken from the commits that follow.
    static constexpr std::size_t most_ = 10'000;
    std::deque<commit> waiting_;
    std::uint64_t end_ = 0;
    std::uint64_t reached_ = 0;
};

}  // namespace weir::migration
