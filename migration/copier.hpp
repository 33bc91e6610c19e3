// The first copy: pages of the table in the order of its key, beside the stream.
#pragma once

#include "migration/operation.hpp"
#include "migration/source_reader.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weir::migration {

// A range of the key space and how far it has come.
struct copy_range {
    std::int32_t number = 0;
    key_range keys;
    std::optional<std::vector<std::string>> last;  // key of the last row that is in the store
    std::uint64_t rows = 0;
    bool done = false;
};

// Rows carry `at` (the slot's consistent point) as their version, whatever they were read under:
// every streamed change is newer and wins. So a page may be read again after a crash.
// Threads: the owner's; `connections` threads of its own.
class copier {
public:
    struct ways {
        // Hands an operation to its lane; blocks while that is full. Throws `stopped`.
        std::function<void(operation&&)> give;
        // Durable before it returns. Called by the copier's threads, one at a time.
        std::function<void(const copy_range&)> note_progress;
        // The last range is done; called once.
        std::function<void()> finished;
        std::function<void(const std::string& reason)> failed;
    };

    copier(
        const plan& what,
        const source_servers& servers,
        version at,
        std::vector<copy_range> ranges,
        std::size_t page_rows,
        ways how
    );
    copier(const copier&) = delete;
    copier& operator=(const copier&) = delete;
    ~copier();  // stop() and join()

    void start(std::size_t connections);

    // Until release(), no page is read, and every page that was read is in the store. For TRUNCATE,
    // which no snapshot holds back: rows read before it must not be written after it. Calls
    // `meanwhile` now and then, which may throw; throws `stopped`.
    void hold(const std::function<void()>& meanwhile);
    void release();

    // A page may be complete: whoever waits for it looks again.
    void page_done();

    void stop();
    // Waits for the threads, which end soon after stop() if servers.sleep and `give` throw then.
    void join();

private:
    struct page {
        std::shared_ptr<migration::receipt> receipt;  // none: the page has no row to write
        std::optional<std::vector<std::string>> last;
        std::uint64_t rows = 0;
    };

    void run();
    [[nodiscard]] bool claim(copy_range& into);
    void copy(source_reader& reader, copy_range range);
    [[nodiscard]] page read_and_give(source_reader& reader, const key_range& keys);
    void await(const page& what);
    [[nodiscard]] bool begin_page(bool may_wait);
    void end_page();

    const plan& plan_;
    const source_servers& servers_;
    const version at_;
    const std::size_t page_rows_;
    const ways ways_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<copy_range> waiting_;
    std::size_t unfinished_ = 0;
    std::size_t pages_open_ = 0;  // being read, handed on, or not in the store yet
    bool held_ = false;
    bool stopping_ = false;
    std::mutex noting_;
    std::vector<std::thread> threads_;
};

}  // namespace weir::migration
