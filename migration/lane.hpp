// One ordered writer of a part of the key space: a bounded queue and a thread that carries out what
// is in it, in batches.
#pragma once

#include "migration/operation.hpp"
#include "migration/tally.hpp"
#include "migration/writer.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weir::migration {

struct batch_limits {
    std::size_t rows = 500;
    std::size_t bytes = std::size_t{8} << 20;
    std::chrono::milliseconds delay{50};  // the longest that an operation waits for company
};

// Threads: any may push; the lane has one of its own.
class lane {
public:
    // Called on the lane's thread: all operations of the stream up to the ticket have been carried
    // out (0: none of the stream), and a page of the copy is complete or not.
    using done_handler = std::function<void(std::uint64_t ticket, bool page_complete)>;
    // The lane has ended by itself, for this reason; empty: it may not write any more.
    using failed_handler = std::function<void(const std::string& reason)>;

    lane(
        std::unique_ptr<store::store> target,
        std::unique_ptr<row_reader> source,
        std::unique_ptr<safekeeping> journal,
        const plan& what,
        writing_rules& rules,
        tally& count,
        batch_limits limits
    );
    lane(const lane&) = delete;
    lane& operator=(const lane&) = delete;
    ~lane();  // ends the thread; what is queued is dropped

    void start(done_handler done, failed_handler failed);

    // False if there is no room within this time; then `what` is as before.
    [[nodiscard]] bool push(operation& what, std::chrono::milliseconds patience);

    void stop();
    // Waits for the thread, after stop().
    void join();

private:
    void run();
    [[nodiscard]] std::vector<operation> next_batch();

    std::unique_ptr<store::store> store_;
    std::unique_ptr<row_reader> source_;
    std::unique_ptr<safekeeping> journal_;
    writer writer_;
    tally& tally_;
    const batch_limits limits_;
    done_handler done_;
    failed_handler failed_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<operation> queue_;
    std::size_t queued_bytes_ = 0;
    bool stopping_ = false;
    std::size_t in_hand_ = 0;  // operations of the batch under way; the lane's thread's
    std::thread thread_;
};

}  // namespace weir::migration
