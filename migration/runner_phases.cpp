// What the runner does in each phase.
#include "migration/census.hpp"
#include "migration/continuity.hpp"
#include "migration/fingerprint.hpp"
#include "migration/held.hpp"
#include "migration/publication.hpp"
#include "migration/runner.hpp"
#include "migration/runner_parts.hpp"
#include "migration/slot.hpp"
#include "routing/position.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace weir::migration {
namespace {

using namespace std::chrono_literals;

}  // namespace

// Publication, slot and the ranges of the copy. What a crash left of the slot is made anew: nobody
// has read from it.
void runner::prepare(governed& with, const migration_record& record) {
    const auto what = plan_of(with.server.session());
    const auto made = begin_capture(with, what, record);
    source_reader reader(what, servers_);
    await_snapshot(reader.server(), servers_);
    const auto rows = reader.estimated_rows();
    const auto& copy = settings_.intent.copy;
    const auto parts =
        std::clamp<std::uint64_t>(rows / (std::uint64_t{copy.page} * 10), copy.connections, 1024);
    rows_to_copy_ = rows;
    held(with.records.drop_ranges());
    auto cuts = reader.cuts(parts);
    // Rows that come later are in the stream: the copy need not follow them.
    if (const auto last = reader.last_key()) {
        auto ranges = ranges_of(std::move(cuts));
        ranges.back().keys.high = *last;
        held(with.records.save_ranges(ranges));
    }
    held(with.records.save_leaves(leaf_oids(with.server.session(), what)));
    held(with.records.drop_verify());
    held(with.records.change_phase_at(record.phase, phase::copying, made));
    spdlog::info(
        "migration {}: slot {} at {}, about {} rows to copy",
        settings_.intent.name,
        record.slot,
        routing::to_string(routing::lsn{made.consistent_point}),
        rows
    );
}

// A new slot, and verify with repair beside its stream, makes up for what was missed.
void runner::resync(governed& with, const migration_record& record, bool asked) {
    const auto what = plan_of(with.server.session());
    const auto server = read_identity(with.server.session());
    if (server.error) {
        throw std::runtime_error(server.error->text);
    }
    const auto id = server.position.system_identifier;
    const bool moved = id != record.system_identifier;
    if (moved && !asked) {
        held(
            with.records.change_reason(phase::stale, of_other_cluster(id, record.system_identifier))
        );
        return;
    }
    const auto history = moved ? history_after(what, record) : record.history;
    auto made = begin_capture(with, what, record);
    made.history = history;
    held(with.records.drop_verify());
    held(with.records.change_phase_at(phase::stale, phase::resyncing, made));
    spdlog::warn(
        "migration {}: changes were missed ({}); a new slot is at {}, verify and repair follow",
        settings_.intent.name,
        record.reason,
        routing::to_string(routing::lsn{made.consistent_point})
    );
}

// For a cluster whose positions say nothing of those before: what is written from now on is newer
// than every document, so whatever the stream or the repair writes is taken.
std::uint32_t runner::history_after(const plan& what, const migration_record& record) const {
    const auto target = open_store(what);
    const auto names = namespaces_of(*target, what);
    if (!names) {
        throw std::runtime_error(names.error().text);
    }
    const auto found = take_census(*target, *names, [this] { check_stop(); });
    if (!found) {
        throw std::runtime_error(found.error().text);
    }
    return std::max(record.written_timeline(), found->newest.value_or(version{}).timeline);
}

void runner::stream(governed& with, const migration_record& record) {
    const auto what = plan_of(with.server.session());
    if (const auto changed = changed_since(record.fingerprint, what, settings_.target.name)) {
        held(with.records.change_phase(
            record.phase,
            *paused(record.phase),
            "not what it was started with: " + *changed + "; put it back, or remove and start anew"
        ));
        return;
    }
    if (leaves_changed(with, what, record)) {
        after_watch(with, what, record, "partitions were attached or detached");
        return;
    }
    const auto found = check_capture(with, what, record);
    if (const auto* wait = std::get_if<not_yet>(&found.found)) {
        with.server.close();
        throw std::runtime_error(wait->reason);
    }
    if (const auto* missed = std::get_if<gap>(&found.found)) {
        spdlog::error("migration {}: {}", settings_.intent.name, missed->reason);
        held(with.records.change_phase(record.phase, phase::stale, missed->reason));
        return;
    }
    const auto& on = std::get<carries_on>(found.found);
    auto now = record;
    now.confirmed = on.from;
    now.timeline = found.timeline;
    if (on.tail && !mend_tail(with, now)) {
        return;
    }
    if (found.timeline != record.timeline) {
        now.sent = on.from;
        held(with.records.confirm(now.timeline, on.from, on.from));
    }
    if (now.phase == phase::copying && rows_to_copy_ == 0) {
        rows_to_copy_ = source_reader(what, servers_).estimated_rows();
    }
    auto source = open_capture(with, what, now);
    auto outcome = run_stream(with, what, now, std::move(source));
    after_run(with, what, outcome);
}

// The store may have commits that were lost with the old primary. False: there is a new phase,
// which begins in another way.
bool runner::mend_tail(governed& with, migration_record& now) {
    const std::string reason = "commits were lost with the old primary";
    held(with.records.drop_verify());
    if (now.phase == phase::copying) {
        held(with.records.change_phase(phase::copying, phase::stale, reason));
        return false;
    }
    if (now.phase == phase::dual_writing) {
        held(with.records.change_phase(phase::dual_writing, phase::resyncing, reason));
        now.phase = phase::resyncing;
    }
    return true;
}

run_outcome runner::run_stream(
    governed& with,
    const plan& what,
    const migration_record& record,
    std::unique_ptr<change_source> source
) {
    run_settings settings{
        .plan = what,
        .servers = servers_,
        .lease = keeper_.lease(),
        .tally = tally_,
        .open_store = [this, &what] { return open_store(what); },
        .watch = [this, &with, &what] { return watch(with, what); },
        .limits = {}};
    const auto probe = open_store(what);
    const auto wanted = settings_.target.max_in_flight;
    settings.lanes = std::max(1U, wanted != 0 ? wanted : probe->able().max_parallel);
    if (!probe->able().conditional) {
        settings.lanes = std::min<std::size_t>(settings.lanes, probe->able().max_parallel);
    }
    const auto& batch = settings_.intent.batch;
    settings.limits = {.rows = batch.rows, .bytes = batch.bytes, .delay = batch.delay};
    settings.copy_connections = settings_.intent.copy.connections;
    settings.copy_page = settings_.intent.copy.page;
    // Whatever was sent before lies below the end of the WAL now.
    const auto end = what.capture == capture_kind::wal
                         ? read_slot(with.server.session(), record.slot).insert_lsn
                         : std::numeric_limits<std::uint64_t>::max();
    const auto run = std::make_shared<stream_run>(
        std::move(settings),
        std::move(source),
        with.records,
        record,
        end
    );
    {
        const std::lock_guard lock(mutex_);
        run_ = run;
        if (stopping_ || order_) {
            run->stop();
        }
    }
    tally_.trouble({});
    auto outcome = run->run();
    {
        const std::lock_guard lock(mutex_);
        verify_ = run->verifying();
        sent_ = run->promised();
        run_.reset();
        if (record_) {
            record_->phase = run->current_phase();
        }
    }
    return outcome;
}

void runner::after_run(governed& with, const plan& what, const run_outcome& how) {
    const auto now = held(with.records.load());
    if (!now) {
        return;
    }
    set_record(now);
    switch (how.why) {
    case run_end::asked: return;
    case run_end::lost:
        spdlog::warn("migration {}: {}", settings_.intent.name, how.text);
        tally_.trouble(how.text);
        with.server.close();
        pause_for_order(200ms);
        return;
    case run_end::unusable:
        spdlog::error("migration {}: paused: {}", settings_.intent.name, how.text);
        held(with.records.change_phase(now->phase, *paused(now->phase), how.text));
        return;
    case run_end::hopeless:
        spdlog::error("migration {}: failed: {}", settings_.intent.name, how.text);
        held(with.records.change_phase(now->phase, phase::failed, how.text));
        return;
    case run_end::watched: after_watch(with, what, *now, how.text); return;
    case run_end::failed: throw std::runtime_error(how.text);
    }
}

bool runner::leaves_changed(governed& with, const plan& what, const migration_record& record) {
    if (!what.partitioned) {
        return false;
    }
    const auto present = leaves_of(with.server.session(), what.table_oid);
    if (present.error) {
        return false;  // asked again in a moment
    }
    const auto changes = changes_of(record.leaves, present.leaves);
    return !changes.added.empty() || !changes.removed.empty();
}

// On the thread that reads the stream.
std::optional<std::string> runner::watch(governed& with, const plan& what) {
    count(with);
    const auto limit = what.max_retained_wal;
    std::uint64_t retained = 0;
    {
        const std::lock_guard lock(mutex_);
        retained = retained_;
    }
    if (limit != 0 && retained > limit) {
        return std::string(too_much_wal) + ": the slot holds back " + std::to_string(retained) +
               " bytes of WAL, more than max_retained_wal";
    }
    std::optional<migration_record> record;
    {
        const std::lock_guard lock(mutex_);
        record = record_;
    }
    if (record && leaves_changed(with, what, *record)) {
        return "partitions were attached or detached";
    }
    return std::nullopt;
}

void runner::after_watch(
    governed& with,
    const plan& what,
    const migration_record& now,
    const std::string& reason
) {
    spdlog::warn("migration {}: {}", settings_.intent.name, reason);
    if (reason.starts_with(too_much_wal)) {
        // The primary's disk comes first. A resync follows once somebody resumes.
        if (const auto failed = drop_slot(with.server.session(), now.slot)) {
            throw std::runtime_error(failed->text);
        }
        held(with.records.change_phase(now.phase, phase::stale, reason));
        return;
    }
    held(with.records.drop_verify());
    if (now.phase == phase::dual_writing) {
        held(with.records.change_phase(phase::dual_writing, phase::resyncing, reason));
    } else if (now.phase == phase::copying) {
        // The pages may have missed rows of it: everything is read once more.
        held(with.records.change_phase(phase::copying, phase::stale, reason));
    }
    held(with.records.save_leaves(leaf_oids(with.server.session(), what)));
}

void runner::remove(governed& with, const migration_record& record) {
    end_capture(with, record);
    held(with.records.forget());
    spdlog::info("migration {}: removed", settings_.intent.name);
}

}  // namespace weir::migration
