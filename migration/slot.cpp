#include "migration/slot.hpp"

#include "migration/wal_end.hpp"
#include "routing/position.hpp"

#include <array>
#include <charconv>

namespace weir::migration {

namespace {

using parameter = std::optional<std::string>;

template <typename Number>
Number number_of(std::string_view digits) {
    Number number{};
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

std::uint64_t lsn_of(std::string_view text) {
    const auto parsed = routing::parse_lsn(text);
    return parsed ? parsed->value : 0;
}

// Columns that came with 16 and 17 are looked up by name, so that one statement does for all.
constexpr const char* slot_query =
    "SELECT plugin, database, active_pid, restart_lsn, confirmed_flush_lsn, wal_status, "
    "all_of_it->>'invalidation_reason', coalesce((all_of_it->>'conflicting')::boolean, false), "
    "coalesce((all_of_it->>'failover')::boolean, false), "
    "coalesce((all_of_it->>'synced')::boolean, false) "
    "FROM (SELECT *, to_jsonb(s) AS all_of_it FROM pg_replication_slots AS s) AS s "
    "WHERE slot_name = $1";

slot_state slot_at(const sql_rows& rows) {
    slot_state slot;
    slot.plugin = rows.at(0, 0);
    slot.database = rows.at(0, 1);
    slot.active_pid = number_of<std::int32_t>(rows.at(0, 2));
    slot.restart_lsn = lsn_of(rows.at(0, 3));
    slot.confirmed_flush = lsn_of(rows.at(0, 4));
    slot.wal_status = rows.at(0, 5);
    slot.invalidation_reason = rows.at(0, 6);
    slot.conflicting = rows.at(0, 7) == "t";
    slot.failover = rows.at(0, 8) == "t";
    slot.synced = rows.at(0, 9) == "t";
    return slot;
}

std::optional<sql_error>
find_slot(sql_session& session, const std::string& name, std::optional<slot_state>& slot) {
    const std::array<parameter, 1> parameters = {name};
    const auto answer = session.run(slot_query, parameters);
    if (answer && answer.rows.size() == 1) {
        slot = slot_at(answer.rows);
    }
    return answer.error;
}

std::optional<sql_error> read_history(const source_address& where, server_position& position) {
    if (position.timeline <= 1) {
        return std::nullopt;
    }
    sql_session replication;
    if (auto failed = replication.connect(where, true)) {
        return failed;
    }
    const auto answer = replication.run("TIMELINE_HISTORY " + std::to_string(position.timeline));
    if (!answer) {
        return answer.error;
    }
    auto history = answer.rows.size() == 1 ? parse_history(answer.rows.at(0, 1)) : std::nullopt;
    if (!history) {
        return sql_error{
            .sqlstate = "XX000",
            .text = replication.address() + ": the history of timeline " +
                    std::to_string(position.timeline) + " cannot be read"};
    }
    position.history = std::move(*history);
    return std::nullopt;
}

}  // namespace

slot_report read_slot(sql_session& session, const std::string& name) {
    slot_report report;
    report.error = find_slot(session, name, report.slot);
    if (report.error) {
        return report;
    }
    const auto answer = session.run(wal_end_question);
    if (!answer) {
        report.error = answer.error;
        return report;
    }
    report.insert_lsn = wal_end_of(answer.rows).value_or(0);
    // A slot whose WAL is gone has no restart_lsn and holds nothing back.
    if (report.slot && report.slot->restart_lsn != 0 &&
        report.slot->restart_lsn < report.insert_lsn) {
        report.retained = report.insert_lsn - report.slot->restart_lsn;
    }
    return report;
}

server_answer read_identity(sql_session& session) {
    server_answer found;
    // A standby has no WAL of its own whose timeline could be asked for; it is not needed there.
    const auto answer = session.run(
        "SELECT pg_is_in_recovery(), (SELECT system_identifier FROM pg_control_system()), CASE "
        "WHEN pg_is_in_recovery() THEN 0 ELSE ('x' || "
        "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint END"
    );
    if (!answer) {
        found.error = answer.error;
        return found;
    }
    auto& position = found.position;
    position.standby = answer.rows.at(0, 0) == "t";
    position.system_identifier = number_of<std::uint64_t>(answer.rows.at(0, 1));
    position.timeline = number_of<std::uint32_t>(answer.rows.at(0, 2));
    return found;
}

server_answer
read_server(sql_session& session, const source_address& where, const std::string& slot) {
    auto found = read_identity(session);
    if (found.error) {
        return found;
    }
    auto& position = found.position;
    found.error = find_slot(session, slot, position.slot);
    if (!found.error && !position.standby) {
        found.error = read_history(where, position);
    }
    return found;
}

std::optional<sql_error> drop_slot(sql_session& session, const std::string& name) {
    const std::array<parameter, 1> parameters = {name};
    return session
        .run(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name "
            "= $1",
            parameters
        )
        .error;
}

}  // namespace weir::migration
