// Where a migration's changes come from: the WAL by a slot and a publication, or an outbox.
#include "migration/capture/outbox_source.hpp"
#include "migration/capture/outbox_sql.hpp"
#include "migration/capture/replication_stream.hpp"
#include "migration/capture/wal_source.hpp"
#include "migration/held.hpp"
#include "migration/publication.hpp"
#include "migration/runner.hpp"
#include "migration/runner_parts.hpp"
#include "migration/slot.hpp"
#include "migration/wal_end.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace weir::migration {
namespace {

void require(const std::optional<sql_error>& failed) {
    if (failed) {
        throw std::runtime_error(failed->text);
    }
}

}  // namespace

// From here on every commit is captured. What a crash left of the slot is made anew: nobody has
// read from it.
capture_start
runner::begin_capture(governed& with, const plan& what, const migration_record& record) {
    if (what.capture == capture_kind::wal) {
        require(ensure_publication(with.server.session(), what));
        auto made = make_slot(with, record.slot);
        made.history = record.history;
        return made;
    }
    // Ids begin at the end of the WAL and grow more slowly, so they are newer than those of an
    // outbox before, and than positions in the WAL.
    const auto server = read_identity(with.server.session());
    require(server.error);
    const auto end = with.server.run(wal_end_question, {});
    require(end.error);
    const auto above = std::max({wal_end_of(end.rows).value_or(0), record.confirmed, record.sent});
    require(install_outbox(with.server.session(), what, above + 1));
    const auto first = first_outbox_id(with.server.session(), what);
    require(first.error);
    return {
        .system_identifier = server.position.system_identifier,
        .timeline = server.position.timeline,
        .history = record.history,
        .consistent_point = first.id.value_or(1) - 1};
}

capture_start runner::make_slot(governed& with, const std::string& name) {
    if (const auto failed = drop_slot(with.server.session(), name)) {
        throw std::runtime_error(failed->text);
    }
    replication_stream maker;
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) {
            throw stopped();
        }
        maker_ = &maker;
    }
    const auto forget = [this](void*) {
        const std::lock_guard lock(mutex_);
        maker_ = nullptr;
    };
    const std::unique_ptr<void, decltype(forget)> guard(&maker, forget);
    if (const auto failed = maker.connect(with.server.where())) {
        throw std::runtime_error(failed->text);
    }
    const auto server = maker.identify();
    if (server.has_error()) {
        throw std::runtime_error(server.error().text);
    }
    tally_.trouble("the slot waits for the transactions that are running");
    const auto point = maker.create_slot(name, true);
    tally_.trouble({});
    if (point.has_error()) {
        throw std::runtime_error(point.error().text);
    }
    return {
        .system_identifier = server->system_identifier,
        .timeline = server->timeline,
        .history = 0,
        .consistent_point = *point};
}

// Whether the changes go on where the journal ends.
runner::capture_check
runner::check_capture(governed& with, const plan& what, const migration_record& record) {
    const bool wal = what.capture == capture_kind::wal;
    auto asked = wal ? read_server(with.server.session(), with.server.where(), record.slot)
                     : read_identity(with.server.session());
    if (asked.error) {
        with.server.close();
        throw std::runtime_error(asked.error->text);
    }
    const auto timeline = asked.position.timeline;
    if (wal) {
        const journal_position known{
            .system_identifier = record.system_identifier,
            .timeline = record.timeline,
            .confirmed = record.confirmed,
            .sent = sent_};
        return {continuity_of(known, asked.position), timeline};
    }
    return check_outbox(with, what, record, asked.position);
}

// The outbox is part of the data: it goes on with them. Only what was sent and then lost with an
// old primary has to be mended.
runner::capture_check runner::check_outbox(
    governed& with,
    const plan& what,
    const migration_record& record,
    const server_position& server
) {
    const auto timeline = server.timeline;
    if (server.standby) {
        return {not_yet{"the server is a standby"}, timeline};
    }
    const auto id = server.system_identifier;
    if (id != record.system_identifier) {
        return {
            gap{.reason = of_other_cluster(id, record.system_identifier), .tail = {}},
            timeline};
    }
    const auto first = first_outbox_id(with.server.session(), what);
    require(first.error);
    if (!first.id || *first.id - 1 != record.consistent_point) {
        const std::string reason =
            first.id ? "the outbox has been made anew" : "the outbox is not there";
        return {gap{.reason = reason, .tail = {}}, timeline};
    }
    carries_on on{.from = record.confirmed};
    if (timeline != record.timeline) {
        on.tail = lost_tail{.timeline = record.timeline, .end = 0};
    }
    return {on, timeline};
}

std::unique_ptr<change_source>
runner::open_capture(governed& with, const plan& what, const migration_record& record) {
    if (what.capture == capture_kind::outbox) {
        // For partitions that are new.
        const auto above = std::max(record.confirmed, record.sent);
        require(install_outbox(with.server.session(), what, above + 1));
        auto source = std::make_unique<outbox_source>(
            what,
            outbox_options{
                .timeline = record.written_timeline(),
                .batch = settings_.intent.batch.rows}
        );
        require(source->open(with.server.where(), record.confirmed));
        return source;
    }
    auto server = std::make_shared<primary>(servers_);
    auto source = std::make_unique<wal_source>(
        what,
        [server, oid = what.table_oid](auto relation) {
            return is_partition(*server, oid, relation);
        },
        record.history
    );
    require(source->open(
        with.server.where(),
        {.slot = record.slot, .publications = {record.publication}, .from = record.confirmed}
    ));
    return source;
}

void runner::end_capture(governed& with, const migration_record& record) {
    require(drop_slot(with.server.session(), record.slot));
    require(drop_publication(with.server.session(), record.publication));
    // The configuration may say something else than when it was started.
    require(remove_outbox(with.server.session(), settings_.intent.name));
}

}  // namespace weir::migration
