// Verify beside a running stream.
#include "migration/capture/outbox_sql.hpp"
#include "migration/held.hpp"
#include "migration/stream_run.hpp"
#include "migration/wal_end.hpp"

#include <spdlog/spdlog.h>

namespace weir::migration {
namespace {

constexpr std::chrono::seconds save_interval{1};

}  // namespace

bool stream_run::start_verify(bool repair) {
    verify_progress fresh;
    fresh.repair = repair;
    return go_on_verifying(std::move(fresh));
}

bool stream_run::go_on_verifying(verify_progress from) {
    const std::lock_guard lock(mutex_);
    if (verify_.running || stopping_ || phase_ == phase::copying) {
        return false;
    }
    if (verify_thread_.joinable()) {
        verify_thread_.join();
    }
    from.over = false;
    from.failure.clear();
    verify_ = {};
    verify_.running = true;
    verify_.progress = from;
    verify_.begun = verify_state::clock::now();
    verify_saved_ = {};
    verify_thread_ = std::thread([this, from = std::move(from)] { verify_thread(from); });
    return true;
}

// What the run before, of this process or of another, has left unfinished goes on.
void stream_run::take_up_verify() {
    auto last = held(journal_.last_verify());
    if (!last) {
        return;
    }
    if (!last->over) {
        static_cast<void>(go_on_verifying(std::move(*last)));
        return;
    }
    const std::lock_guard lock(mutex_);
    verify_.finished = last->failure.empty();
    verify_.progress = std::move(*last);
}

// On the thread that reads the stream: a resync is a verify that repairs, until one has come to its
// end.
void stream_run::settle_resync() {
    if (phase_ != phase::resyncing) {
        return;
    }
    const auto state = verifying();
    if (!state.finished || !state.progress.repair) {
        const auto now = std::chrono::steady_clock::now();
        if (!state.running && now >= verify_again_) {
            verify_again_ = now + std::chrono::seconds(10);
            // One that has failed goes on where it was.
            static_cast<void>(
                state.progress.repair ? go_on_verifying(state.progress) : start_verify(true)
            );
        }
        return;
    }
    const auto unrepaired = state.progress.report.unrepaired;
    if (unrepaired != 0) {
        end_ = run_outcome{
            run_end::hopeless,
            std::to_string(unrepaired) +
                " documents of the store have newer versions than the source: they are of another "
                "history of it; `start` it anew, by force or with its namespaces emptied"};
        throw stopped();
    }
    held(journal_.change_phase(phase::resyncing, phase::dual_writing, {}));
    phase_ = phase::dual_writing;
    spdlog::info("migration {}: the store is whole again, dual writing", settings_.plan.name);
}

verify_state stream_run::verifying() const {
    const std::lock_guard lock(mutex_);
    return verify_;
}

namespace {

std::uint64_t asked(primary& server, const std::string& query) {
    const auto answer = server.run(query, {});
    if (!answer) {
        throw std::runtime_error(answer.error->text);
    }
    return std::stoull(std::string(answer.rows.at(0, 0)));
}

}  // namespace

// With an outbox, ids stand for positions: all that are given out now are below the next, and their
// transactions end before the rows are read that the repair writes.
version stream_run::repair_version(primary& server) const {
    if (settings_.plan.capture == capture_kind::wal) {
        return applied();
    }
    const auto next = "SELECT nextval(pg_get_serial_sequence(" +
                      quoted_text(outbox_table(settings_.plan)) + ", 'id'))";
    return {record_.written_timeline(), asked(server, next), 0};
}

void stream_run::catch_up(primary& server) {
    if (settings_.plan.capture == capture_kind::wal) {
        const auto answer = server.run(wal_end_question, {});
        const auto end = answer ? wal_end_of(answer.rows) : std::nullopt;
        if (!end) {
            throw std::runtime_error(
                answer ? "the end of the WAL is not known" : answer.error->text
            );
        }
        pipeline_->await_reached(*end, [this] { check(); });
        return;
    }
    // What is in the store is deleted from the outbox.
    const auto table = outbox_table(settings_.plan);
    const auto last = asked(server, "SELECT coalesce(max(id), 0) FROM " + table);
    const auto waiting = "SELECT count(*) FROM " + table + " WHERE id <= " + std::to_string(last);
    while (asked(server, waiting) != 0) {
        sleep(std::chrono::milliseconds(20));
    }
}

// Durable now and then: what is done since is done again.
void stream_run::note_verify(journal& records, const verify_progress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (progress.over || now - verify_saved_ >= save_interval) {
        held(records.save_verify(progress));
        verify_saved_ = now;
    }
    const std::lock_guard lock(mutex_);
    verify_.progress = progress;
}

void stream_run::verify(primary& server, const verify_progress& from) {
    const auto target = settings_.open_store();
    journal records(server, settings_.plan.name, epoch_);
    const auto rows = source_reader(settings_.plan, servers_).estimated_rows();
    {
        const std::lock_guard lock(mutex_);
        verify_.rows_expected = rows;
        verify_.share_begun = share_of(from, rows).value_or(0);
    }
    auto progress = from;
    note_verify(records, progress);
    verifier look(
        settings_.plan,
        servers_,
        *target,
        from.repair,
        {.watermark = [&] { return repair_version(server); },
         .catch_up = [&] { catch_up(server); },
         .repair = [this](std::vector<operation>&& all) { carry_out(std::move(all)); },
         .progress =
             [&](const verify_report& report, const verify_cursor& cursor) {
                 progress.report = report;
                 progress.cursor = cursor;
                 note_verify(records, progress);
             },
         .sleep =
             [&](std::chrono::milliseconds time) {
                 note_verify(records, progress);
                 sleep(time);
             }}
    );
    progress.report = look.run(from.cursor, from.report);
    progress.over = true;
    note_verify(records, progress);
    const auto& found = progress.report;
    spdlog::info(
        "migration {}: verified {} rows and {} documents: {} missing, {} extra, {} different, {} "
        "repaired",
        settings_.plan.name,
        found.rows,
        found.documents,
        found.missing,
        found.extra,
        found.different,
        found.repaired
    );
}

void stream_run::verify_thread(const verify_progress& from) {
    primary server(servers_);
    verify_state ended;
    try {
        verify(server, from);
        ended.finished = true;
    } catch (const stopped&) {
        ended.interrupted = true;
    } catch (const std::exception& error) {
        spdlog::error("migration {}: verify: {}", settings_.plan.name, error.what());
        ended.progress.failure = error.what();
        note_failure(server, error.what());
    }
    const std::lock_guard lock(mutex_);
    verify_.running = false;
    verify_.finished = ended.finished;
    verify_.interrupted = ended.interrupted;
    verify_.progress.failure = std::move(ended.progress.failure);
}

// So that the next run does not try again by itself.
void stream_run::note_failure(primary& server, const std::string& failure) {
    auto progress = verifying().progress;
    progress.over = true;
    progress.failure = failure;
    try {
        static_cast<void>(journal(server, settings_.plan.name, epoch_).save_verify(progress));
    } catch (const stopped&) {
        return;
    }
}

}  // namespace weir::migration
