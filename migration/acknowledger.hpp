// Tells when commits that have just been answered by the primary are in the store.
#pragma once

#include "migration/primary.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace weir::migration {

// Threads: any; it has two of its own. One asks the primary: a commit is known to lie before the
// end of the WAL as the primary tells it after the commit was answered, so one question serves all
// that wait. The other answers those whose time is over, however long the primary says nothing.
class acknowledger {
public:
    // Called on one of the acknowledger's threads: false when the time was over, or nobody could
    // tell.
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
        std::uint64_t number = 0;
        std::optional<std::uint64_t> end{};  // of the WAL behind the commit
    };

    struct question {
        std::uint64_t upto = 0;   // numbers that waited when it was asked
        bool end_wanted = false;  // for some of them
    };

    void ask();
    void expire();
    [[nodiscard]] std::optional<question> next_question();
    void settle(
        const question& asked,
        std::optional<std::uint64_t> end,
        std::optional<std::uint64_t> reached
    );
    [[nodiscard]] std::optional<std::uint64_t> ask_end();

    source_servers servers_;
    const std::chrono::milliseconds timeout_;
    const position reached_;
    primary server_;
    std::mutex mutex_;
    std::condition_variable changed_;  // for who asks: somebody waits
    std::condition_variable begun_;    // for who watches the time: the first one waits
    std::deque<waiting> open_;         // in the order of their deadlines
    std::uint64_t last_ = 0;           // number
    std::uint64_t asked_ = 0;
    bool stopping_ = false;
    std::atomic<std::uint64_t> missed_ = 0;
    std::thread asking_;
    std::thread expiring_;
};

}  // namespace weir::migration
