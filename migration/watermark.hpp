// Up to which position of the stream everything is in the store. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace weir::migration {

// Operations get tickets in the order of the stream and go to lanes; each lane finishes its own in
// order. A position counts when every operation before it is done. Threads: the caller's lock.
class watermark {
public:
    explicit watermark(std::size_t lanes, std::uint64_t start) : lanes_(lanes), reached_(start) {}

    // The next operation goes to this lane.
    [[nodiscard]] std::uint64_t give(std::size_t lane) {
        lanes_[lane].push_back(++last_);
        return last_;
    }

    // All operations of the stream before `position` have been given.
    void mark(std::uint64_t position) {
        if (!marks_.empty() && marks_.back().ticket == last_) {
            marks_.back().position = position;
        } else {
            marks_.push_back({last_, position});
        }
        advance();
    }

    // The lane has carried out its operations up to this ticket.
    void done(std::size_t lane, std::uint64_t ticket) {
        auto& open = lanes_[lane];
        while (!open.empty() && open.front() <= ticket) {
            open.pop_front();
        }
        advance();
    }

    [[nodiscard]] std::uint64_t reached() const { return reached_; }

    [[nodiscard]] bool idle() const {
        for (const auto& open : lanes_) {
            if (!open.empty()) {
                return false;
            }
        }
        return true;
    }

private:
    struct position_mark {
        std::uint64_t ticket;
        std::uint64_t position;
    };

    void advance() {
        std::uint64_t complete = last_;
        for (const auto& open : lanes_) {
            if (!open.empty() && open.front() <= complete) {
                complete = open.front() - 1;
            }
        }
        while (!marks_.empty() && marks_.front().ticket <= complete) {
            reached_ = marks_.front().position;
            marks_.pop_front();
        }
    }

    std::vector<std::deque<std::uint64_t>> lanes_;  // tickets that are not done
    std::deque<position_mark> marks_;  // at most one for each operation that is not done
    std::uint64_t last_ = 0;
    std::uint64_t reached_ = 0;
};

}  // namespace weir::migration
