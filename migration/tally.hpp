// What a migration has done, for metrics and status. Written by its threads, read by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace weir::migration {

struct tally {
    std::atomic<std::uint64_t> rows_copied = 0;    // written to the store by the copy
    std::atomic<std::uint64_t> rows_streamed = 0;  // by the stream: upserts, patches, removals
    std::atomic<std::uint64_t> bytes = 0;          // of the requests to the store
    std::atomic<std::uint64_t> retries = 0;
    std::atomic<std::uint64_t> dead_letters = 0;
    std::atomic<std::uint64_t> outdated = 0;  // not written, because the store had a newer version
    std::atomic<std::uint64_t> reread = 0;    // rows read again by key
    std::atomic<std::uint64_t> waiting = 0;   // operations in the lanes

    // What keeps a writer from going on, for people; empty while it goes on.
    void trouble(std::string text) {
        const std::lock_guard lock(mutex_);
        trouble_ = std::move(text);
    }

    [[nodiscard]] std::string trouble() const {
        const std::lock_guard lock(mutex_);
        return trouble_;
    }

private:
    mutable std::mutex mutex_;
    std::string trouble_;
};

}  // namespace weir::migration
