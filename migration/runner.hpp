// Carries one migration through its phases: holds its lease, does what the phase in the journal
// asks, and takes commands.
#pragma once

#include "config/config.hpp"
#include "migration/acknowledger.hpp"
#include "migration/capture/replication_stream.hpp"
#include "migration/capture/source.hpp"
#include "migration/command.hpp"
#include "migration/continuity.hpp"
#include "migration/keeper.hpp"
#include "migration/status.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weir::migration {

struct runner_settings {
    config::migration intent;
    config::store target;
    std::vector<source_address> servers;  // of the cluster, with database, user and password
    std::string owner;                    // this process, for people
    friend bool operator==(const runner_settings&, const runner_settings&) = default;
};

// Threads: any. Its own: one that governs, the keeper's, and those of a run.
class runner {
public:
    explicit runner(runner_settings settings);
    runner(const runner&) = delete;
    runner& operator=(const runner&) = delete;
    ~runner();

    void start();

    // Ends the run and gives the lease back; the phase stays.
    void stop();

    // Blocks until it is done, at most a minute; longer work goes on behind.
    [[nodiscard]] reply carry_out(const command& what);

    [[nodiscard]] migration_status status() const;

    // For commits on the primary that are to be answered when the store has them: `then` hears
    // whether it has, or at once that nobody waits here (true).
    void await_stored(acknowledger::answer then);

    [[nodiscard]] bool same(const runner_settings& as) const { return settings_ == as; }

    [[nodiscard]] const config::migration& intent() const noexcept { return settings_.intent; }

private:
    struct order;
    struct governed;

    struct capture_check {
        continuity found;
        std::uint32_t timeline = 0;  // of the server
    };

    // runner.cpp: the governing thread
    void govern();
    void step(governed& with);
    void count(governed& with);
    void guard_disk(governed& with, const migration_record& record);
    void check_stop() const;
    void pause(std::chrono::milliseconds time);
    void pause_for_order(std::chrono::milliseconds time);
    void pause_after_fault();
    void answer_order(const std::shared_ptr<order>& which, reply with);
    void set_record(std::optional<migration_record> record);
    [[nodiscard]] reply order_and_wait(const command& what);
    [[nodiscard]] std::shared_ptr<stream_run> current_run() const;
    [[nodiscard]] std::optional<std::uint64_t> stored(primary& server) const;

    // runner_phases.cpp: what each phase asks
    void prepare(governed& with, const migration_record& record);
    void stream(governed& with, const migration_record& record);
    void resync(governed& with, const migration_record& record, bool asked);
    [[nodiscard]] std::uint32_t history_after(const plan& what, const migration_record& record)
        const;
    void remove(governed& with, const migration_record& record);
    [[nodiscard]] bool mend_tail(governed& with, migration_record& now);
    [[nodiscard]] run_outcome run_stream(
        governed& with,
        const plan& what,
        const migration_record& record,
        std::unique_ptr<change_source> source
    );
    void after_run(governed& with, const plan& what, const run_outcome& how);
    [[nodiscard]] std::optional<std::string> watch(governed& with, const plan& what);
    [[nodiscard]] bool
    leaves_changed(governed& with, const plan& what, const migration_record& record);
    void after_watch(
        governed& with,
        const plan& what,
        const migration_record& now,
        const std::string& reason
    );

    // runner_capture.cpp
    [[nodiscard]] capture_start
    begin_capture(governed& with, const plan& what, const migration_record& record);
    [[nodiscard]] capture_start make_slot(governed& with, const std::string& name);
    [[nodiscard]] capture_check
    check_capture(governed& with, const plan& what, const migration_record& record);
    [[nodiscard]] std::unique_ptr<change_source>
    open_capture(governed& with, const plan& what, const migration_record& record);
    [[nodiscard]] capture_check check_outbox(
        governed& with,
        const plan& what,
        const migration_record& record,
        const server_position& server
    );
    void end_capture(governed& with, const migration_record& record);

    // runner_commands.cpp
    [[nodiscard]] reply obey(governed& with, const migration_record& record, const command& what);
    [[nodiscard]] reply resume_anew(governed& with, const migration_record& record);
    [[nodiscard]] reply begin(governed& with, const migration_record& record, const command& what);
    [[nodiscard]] reply verify(bool repair);
    [[nodiscard]] reply dead_letters(bool retry);

    struct looked {
        reply report;
        std::optional<version> newer_document;  // see preflight_report
    };

    [[nodiscard]] looked look(const command& what);
    [[nodiscard]] plan plan_of(sql_session& session) const;
    [[nodiscard]] std::unique_ptr<store::store> open_store(const plan& what) const;

    const runner_settings settings_;
    source_servers servers_;
    keeper keeper_;
    tally tally_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<migration_record> record_;
    std::shared_ptr<stream_run> run_;
    std::shared_ptr<order> order_;
    std::shared_ptr<order> obeyed_;  // the governing thread's
    std::atomic<std::uint64_t> rows_to_copy_ = 0;
    std::uint64_t letters_ = 0;
    std::uint64_t retained_ = 0;
    verify_state verify_;  // of the last run
    // How far this process may have sent; what the journal says of it may be lost with a primary.
    std::optional<std::uint64_t> sent_;
    replication_stream* maker_ = nullptr;  // that waits for a new slot
    std::atomic<bool> stopping_ = false;
    unsigned faults_ = 0;
    std::thread thread_;
    std::unique_ptr<acknowledger> acknowledger_;  // with acknowledge: store
};

}  // namespace weir::migration
