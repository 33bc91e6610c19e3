// All migrations of a process: one runner for each, and the commands for them.
#pragma once

#include "config/config.hpp"
#include "migration/command.hpp"
#include "migration/runner.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weir::migration {

// Threads: any. Commands and new configurations are carried out on a thread of its own, one after
// the other.
class supervisor {
public:
    using answer = std::function<void(reply)>;

    explicit supervisor(const config::config& from);
    supervisor(const supervisor&) = delete;
    supervisor& operator=(const supervisor&) = delete;
    ~supervisor();

    // Runners whose description has changed begin anew; those that are no longer described end,
    // and what they have on the primary stays. Does not wait for that: a runner ends with its last
    // request.
    void configure(const config::config& from);

    // `then` is called on the supervisor's thread; at once, with an error, when too many commands
    // wait.
    void carry_out(command what, answer then);

    // For a commit in this database that was answered by the primary: `then` hears whether every
    // store with `acknowledge: store` has it; on another thread, or at once.
    void await_stored(const std::string& database, acknowledger::answer then);

    // Whether commits in this database are to wait at all.
    [[nodiscard]] static bool acknowledges(const config::config& from, const std::string& database);

    [[nodiscard]] std::vector<migration_status> statuses() const;

    // Ends all runners; takes as long as their requests do.
    void stop();

private:
    struct waiting {
        command what;
        answer then;
    };

    void run();
    void apply(std::vector<runner_settings>&& wanted);
    [[nodiscard]] reply carry_out_now(const command& what);
    [[nodiscard]] std::shared_ptr<runner> find(const std::string& name) const;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::shared_ptr<runner>> runners_;
    std::deque<waiting> waiting_;
    std::optional<std::vector<runner_settings>> wanted_;  // the newest, not carried out yet
    bool stopping_ = false;
    std::thread thread_;
};

// The rows of `status`, in the order of its columns.
[[nodiscard]] const std::vector<std::string>& status_columns();
[[nodiscard]] std::vector<std::string> status_row(const migration_status& of);

}  // namespace weir::migration
