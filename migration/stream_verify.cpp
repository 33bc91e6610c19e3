// Verify beside a running stream.
#include "migration/capture/outbox_sql.hpp"
#include "migration/held.hpp"
#include "migration/stream_run.hpp"
#include "migration/wal_end.hpp"

#include <spdlog/spdlog.h>

namespace weir::migration {

bool stream_run::start_verify(bool repair) {
    const std::lock_guard lock(mutex_);
    if (verify_.running || stopping_ || phase_ == phase::copying) {
        return false;
    }
    if (verify_thread_.joinable()) {
        verify_thread_.join();
    }
    verify_ = {};
    verify_.running = true;
    verify_.repair = repair;
    verify_thread_ = std::thread([this, repair] { verify_thread(repair); });
    return true;
}

// On the thread that reads the stream: a resync is a verify that repairs, until one has come to its
// end.
void stream_run::settle_resync() {
    if (phase_ != phase::resyncing) {
        return;
    }
    const auto state = verifying();
    if (!state.finished || !state.repair) {
        const auto now = std::chrono::steady_clock::now();
        if (!state.running && now >= verify_again_) {
            verify_again_ = now + std::chrono::seconds(10);
            static_cast<void>(start_verify(true));
        }
        return;
    }
    if (state.report.unrepaired != 0) {
        end_ = run_outcome{
            run_end::hopeless,
            std::to_string(state.report.unrepaired) +
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

void stream_run::verify_thread(bool repair) {
    const auto end = [this](std::string failure, bool finished) {
        const std::lock_guard lock(mutex_);
        verify_.running = false;
        verify_.failure = std::move(failure);
        verify_.finished = finished;
    };
    try {
        const auto target = settings_.open_store();
        primary server(servers_);
        verifier look(
            settings_.plan,
            servers_,
            *target,
            repair,
            {.watermark = [&] { return repair_version(server); },
             .catch_up = [&] { catch_up(server); },
             .repair = [this](std::vector<operation>&& all) { carry_out(std::move(all)); },
             .progress =
                 [this](const verify_report& report, const verify_cursor& cursor) {
                     const std::lock_guard lock(mutex_);
                     verify_.report = report;
                     verify_.cursor = cursor;
                 },
             .sleep = [this](std::chrono::milliseconds time) { sleep(time); }}
        );
        const auto report = look.run({}, {});
        spdlog::info(
            "migration {}: verified {} rows and {} documents: {} missing, {} extra, {} different, "
            "{} repaired",
            settings_.plan.name,
            report.rows,
            report.documents,
            report.missing,
            report.extra,
            report.different,
            report.repaired
        );
        {
            const std::lock_guard lock(mutex_);
            verify_.report = report;
        }
        end({}, true);
    } catch (const stopped&) {
        end("stopped", false);
    } catch (const std::exception& error) {
        spdlog::error("migration {}: verify: {}", settings_.plan.name, error.what());
        end(error.what(), false);
    }
}

}  // namespace weir::migration
