// Takes a migration's lease and keeps it renewed, on a thread of its own.
#pragma once

#include "migration/lease.hpp"
#include "migration/primary.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace weir::migration {

// Threads: any.
class keeper {
public:
    // `servers` outlives it; its `sleep` is not used.
    keeper(lease_terms terms, const source_servers& servers);
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;
    ~keeper();  // as after stop(false)

    void start();

    // Gives the lease back. `quiet`: no request to the store is under way.
    void stop(bool quiet);

    [[nodiscard]] const migration::lease& lease() const noexcept { return lease_; }

    // Until it is known whether another process holds it; a few seconds at most.
    void await_first_try();

    // Why the lease is not held, for people; empty while it is.
    [[nodiscard]] std::string standing_by() const;

private:
    void run();
    [[nodiscard]] bool take();
    // False when it is time to stop.
    [[nodiscard]] bool wait(std::chrono::milliseconds time);
    void say(std::string text);

    migration::lease lease_;
    const source_servers& servers_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::string standing_by_ = "not taken yet";
    bool tried_ = false;
    bool stopping_ = false;
    bool quiet_ = false;
    std::thread thread_;
};

}  // namespace weir::migration
