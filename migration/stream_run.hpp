// One run of a migration's stream, from a start or a reconnection to the next: changes go to the
// lanes, the copy and verify run beside it, and what is in the store is confirmed to the slot.
#pragma once

#include "migration/capture/source.hpp"
#include "migration/copier.hpp"
#include "migration/journal.hpp"
#include "migration/lag_clock.hpp"
#include "migration/lease.hpp"
#include "migration/pipeline.hpp"
#include "migration/plan.hpp"
#include "migration/verifier.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weir::migration {

struct run_settings {
    const migration::plan& plan;
    const source_servers& servers;
    const migration::lease& lease;
    migration::tally& tally;
    std::function<std::unique_ptr<store::store>()> open_store;
    // Checks of the runner, now and then, on the thread that reads the stream: a reason to end the
    // run (partitions changed, too much WAL is retained), or nothing.
    std::function<std::optional<std::string>()> watch;
    std::size_t lanes = 1;
    batch_limits limits;
    std::size_t copy_connections = 2;
    std::size_t copy_page = 1000;
};

enum class run_end : std::uint8_t {
    asked,     // stop() was called, or the lease is lost
    lost,      // the source is not there: begin again
    unusable,  // the stream cannot be followed
    hopeless,  // what is asked of the store cannot come true
    watched,   // settings.watch gave a reason
    failed,    // a store, the journal or the source refuses what it must not refuse
};

struct run_outcome {
    run_end why = run_end::asked;
    std::string text;
};

// Threads: run() on the runner's; the others on any.
class stream_run {
public:
    // `source` is open and begins behind record.confirmed. `phase` is one that streams.
    stream_run(
        run_settings settings,
        std::unique_ptr<change_source> source,
        journal& records,
        migration_record record,
        std::uint64_t guarded_until
    );
    stream_run(const stream_run&) = delete;
    stream_run& operator=(const stream_run&) = delete;
    ~stream_run();

    [[nodiscard]] run_outcome run();

    void stop();

    // From the beginning. False if one is running, or the copy is not over. One that is under way
    // when the run ends goes on with the next.
    [[nodiscard]] bool start_verify(bool repair);

    [[nodiscard]] verify_state verifying() const;

    // Hands operations to the lanes and waits for them. Throws `stopped`.
    void carry_out(std::vector<operation>&& all);

    [[nodiscard]] std::uint64_t reached() const { return pipeline_->reached(); }

    [[nodiscard]] std::uint64_t lag_bytes() const;
    [[nodiscard]] double lag_seconds() const;

    // A version that no change in the store exceeds.
    [[nodiscard]] version applied() const {
        return {record_.written_timeline(), pipeline_->reached(), 0};
    }

    [[nodiscard]] phase current_phase() const { return phase_; }

    // Nothing beyond this LSN has been sent. After run() only.
    [[nodiscard]] std::uint64_t promised() const { return record_.sent; }

private:
    [[nodiscard]] std::unique_ptr<safekeeping> make_safekeeping() const;
    void join();
    void sleep(std::chrono::milliseconds time);
    void check() const;
    void check_lease() const;
    void beat();
    void start_copy();
    void settle_copy();
    void settle_resync();
    void take(change&& what);
    void empty_out(const emptied& what);
    [[nodiscard]] std::chrono::milliseconds confirm_interval() const;
    [[nodiscard]] std::chrono::milliseconds quiet_interval() const;
    void confirm(bool at_once);
    void promise(std::uint64_t position);
    void take_up_verify();
    [[nodiscard]] bool go_on_verifying(verify_progress from);
    void verify_thread(const verify_progress& from);
    void verify(primary& server, const verify_progress& from);
    void note_failure(primary& server, const std::string& failure);
    void note_verify(journal& records, const verify_progress& progress);
    [[nodiscard]] version repair_version(primary& server) const;
    void catch_up(primary& server);

    run_settings settings_;
    source_servers servers_;  // the settings', with waits that end with the run
    std::unique_ptr<change_source> source_;
    journal& journal_;
    migration_record record_;
    const std::uint64_t epoch_;  // of the lease under which the run writes
    std::atomic<phase> phase_;
    writing_rules rules_;
    std::unique_ptr<pipeline> pipeline_;
    std::unique_ptr<copier> copier_;
    std::atomic<bool> copy_over_ = false;
    std::atomic<bool> stopping_ = false;
    std::optional<run_outcome> end_;
    std::uint64_t journaled_ = 0;
    std::chrono::steady_clock::time_point journaled_at_;
    std::chrono::steady_clock::time_point watched_at_;
    bool changes_since_journaled_ = false;

    mutable std::mutex mutex_;
    std::condition_variable stopped_;
    lag_clock lag_;
    verify_state verify_;
    std::optional<std::string> copy_failure_;
    std::thread verify_thread_;
    std::chrono::steady_clock::time_point verify_again_;  // not before, after one that failed
    std::chrono::steady_clock::time_point verify_saved_;  // the verify's thread's
};

}  // namespace weir::migration
