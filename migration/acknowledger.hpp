// Tells when commits that have just been answered by the primary are in the store.
#pragma once

#include "migration/primary.hpp"

#include <atomic>
#include <chrono>
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

// Threads: any; it has one of its own. A commit is known to lie before the end of the WAL as the
// primary tells it after the commit was answered, so one question serves all that wait.
class acknowledger {
public:
    // Called on the acknowledger's thread: false when the time was over, or nobody could tell.
    using answer = std::function<void(bool stored)>;
    // Up to which LSN everything is in the store; nothing if that is not known now; `not_running`
    // if it will not come nearer: then nobody is kept waiting.
    static constexpr std::uint64_t not_running = 0;
    using position = std::function<std::optional<std::uint64_t>(primary& server)>;

    acknowledger(
        const source_servers& servers,
        std::chrono::milliseconds timeout,
        position reached
    );
    acknowledger(const acknowledger&) = delete;
    acknowledger& operator=(const acknowledger&) = delete;
    ~acknowledger();

    void start();
    // Answers all that wait with false.
    void stop();

    void await(answer then);

    // Answers that were false so far.
    [[nodiscard]] std::uint64_t missed() const { return missed_; }

private:
    using clock = std::chrono::steady_clock;

    struct waiting {
        clock::time_point deadline;
        answer then;
        std::optional<std::uint64_t> end{};  // of the WAL behind the commit
    };

    void run();
    [[nodiscard]] bool gather(std::vector<waiting>& open);
    void settle(std::vector<waiting>& open, std::optional<std::uint64_t> reached);
    [[nodiscard]] std::optional<std::uint64_t> ask_end();

    source_servers servers_;
    const std::chrono::milliseconds timeout_;
    const position reached_;
    primary server_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<waiting> fresh_;
    bool stopping_ = false;
    std::atomic<std::uint64_t> missed_ = 0;
    std::thread thread_;
};

}  // namespace weir::migration
