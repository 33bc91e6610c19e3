#include "migration/lane.hpp"

#include <algorithm>
#include <utility>

namespace weir::migration {

lane::lane(
    std::unique_ptr<store::store> target,
    std::unique_ptr<row_reader> source,
    std::unique_ptr<safekeeping> journal,
    const plan& what,
    writing_rules& rules,
    tally& count,
    batch_limits limits
)
    : store_(std::move(target)),
      source_(std::move(source)),
      journal_(std::move(journal)),
      writer_(what, *store_, *source_, *journal_, rules, count),
      tally_(count),
      limits_(limits) {}

lane::~lane() {
    stop();
    join();
    tally_.waiting -= queue_.size() + in_hand_;
}

void lane::start(done_handler done, failed_handler failed) {
    done_ = std::move(done);
    failed_ = std::move(failed);
    thread_ = std::thread([this] { run(); });
}

bool lane::push(operation& what, std::chrono::milliseconds patience) {
    const auto size = size_of(what);
    std::unique_lock lock(mutex_);
    // Two batches: one that is being gathered while the other is on its way.
    const auto room = [&] {
        return stopping_ || queue_.empty() ||
               (queue_.size() < 2 * limits_.rows && queued_bytes_ + size <= 2 * limits_.bytes);
    };
    if (!changed_.wait_for(lock, patience, room) || stopping_) {
        return false;
    }
    queued_bytes_ += size;
    queue_.push_back(std::move(what));
    ++tally_.waiting;
    lock.unlock();
    changed_.notify_all();
    return true;
}

void lane::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
}

void lane::join() {
    if (thread_.joinable()) {
        thread_.join();
    }
}

// Empty when the lane is to stop.
std::vector<operation> lane::next_batch() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    const auto full = [&] {
        return stopping_ || queue_.size() >= limits_.rows || queued_bytes_ >= limits_.bytes;
    };
    changed_.wait_for(lock, limits_.delay, full);
    std::vector<operation> batch;
    if (stopping_) {
        return batch;
    }
    std::size_t bytes = 0;
    while (!queue_.empty() && batch.size() < limits_.rows && bytes < limits_.bytes) {
        bytes += size_of(queue_.front());
        batch.push_back(std::move(queue_.front()));
        queue_.pop_front();
    }
    queued_bytes_ -= bytes;
    lock.unlock();
    changed_.notify_all();
    return batch;
}

void lane::run() {
    try {
        while (true) {
            auto batch = next_batch();
            if (batch.empty()) {
                return;
            }
            in_hand_ = batch.size();
            std::uint64_t ticket = 0;
            std::vector<std::shared_ptr<receipt>> pages;
            for (auto& one : batch) {
                ticket = std::max(ticket, one.ticket);
                if (one.page) {
                    pages.push_back(std::move(one.page));
                }
            }
            writer_.carry_out(std::move(batch));
            tally_.waiting -= std::exchange(in_hand_, 0);
            bool page_complete = false;
            for (const auto& page : pages) {
                page_complete = page->one_done() || page_complete;
            }
            done_(ticket, page_complete);
        }
    } catch (const stopped&) {
        failed_({});
    } catch (const std::exception& error) {
        failed_(error.what());
    }
}

}  // namespace weir::migration
