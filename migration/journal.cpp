#include "migration/journal.hpp"

#include "migration/journal_text.hpp"
#include "routing/position.hpp"

namespace weir::migration {

namespace {

std::string lsn_text(std::uint64_t at) {
    return routing::to_string(routing::lsn{at});
}

std::uint64_t lsn_of(std::string_view text) {
    const auto parsed = routing::parse_lsn(text);
    return parsed ? parsed->value : 0;
}

std::vector<std::uint32_t> oids_of(std::string_view array) {
    std::vector<std::uint32_t> oids;
    for (const auto& text : parse_text_array(array).value_or(std::vector<std::string>())) {
        oids.push_back(static_cast<std::uint32_t>(number_of(text)));
    }
    return oids;
}

}  // namespace

journal_result<std::uint64_t> journal::fenced(const std::string& write, parameters more) {
    more.insert(more.begin(), {migration_, epoch_});
    const auto answer = server_.run(
        "WITH fence AS MATERIALIZED (SELECT 1 FROM pgweir.lease WHERE migration = $1 AND epoch = "
        "$2::bigint FOR KEY SHARE), written AS (" +
            write +
            " RETURNING 1) SELECT (SELECT count(*) FROM fence), (SELECT count(*) FROM written)",
        more
    );
    if (!answer) {
        return journal_error{.what = journal_fault::refused, .text = answer.error->text};
    }
    if (answer.rows.at(0, 0) != "1") {
        return journal_error{
            .what = journal_fault::fenced,
            .text = "another process writes migration " + migration_ + " now"};
    }
    return number_of(answer.rows.at(0, 1));
}

journal_result<sql_rows> journal::read(const std::string& query, parameters more) {
    more.insert(more.begin(), migration_);
    auto answer = server_.run(query, more);
    if (!answer) {
        return journal_error{.what = journal_fault::refused, .text = answer.error->text};
    }
    return std::move(answer.rows);
}

journal_result<std::optional<migration_record>> journal::load() {
    // A server without the schema has no migration.
    const auto there = read("SELECT to_regclass('pgweir.migration') IS NOT NULL WHERE $1 <> ''");
    if (!there) {
        return there.error();
    }
    if (there->size() != 1 || there->at(0, 0) != "t") {
        return std::optional<migration_record>();
    }
    const auto rows = read(
        "SELECT phase, reason, slot, publication, system_identifier, timeline, "
        "consistent_point, confirmed, sent, history, fingerprint, leaves FROM pgweir.migration "
        "WHERE name = $1"
    );
    if (!rows) {
        return rows.error();
    }
    if (rows->size() == 0) {
        return std::optional<migration_record>();
    }
    const auto at = [&](int column) { return std::string(rows->at(0, column)); };
    const auto known = parse_phase(at(0));
    if (!known) {
        return journal_error{
            .what = journal_fault::refused,
            .text = "the journal holds the unknown phase '" + at(0) + "'"};
    }
    return std::optional(migration_record{
        .phase = *known,
        .reason = at(1),
        .slot = at(2),
        .publication = at(3),
        .system_identifier = number_of(at(4)),
        .timeline = static_cast<std::uint32_t>(number_of(at(5))),
        .consistent_point = lsn_of(at(6)),
        .confirmed = lsn_of(at(7)),
        .sent = lsn_of(at(8)),
        .history = static_cast<std::uint32_t>(number_of(at(9))),
        .fingerprint = at(10),
        .leaves = oids_of(at(11))});
}

journal_result<void> journal::begin(
    const std::string& slot,
    const std::string& publication,
    const std::string& fingerprint,
    std::uint32_t history
) {
    const auto written = fenced(
        "INSERT INTO pgweir.migration AS m (name, phase, slot, publication, fingerprint, history) "
        "SELECT $1, 'preparing', $3, $4, $5::jsonb, $6::bigint WHERE EXISTS (SELECT FROM fence) ON "
        "CONFLICT (name) DO UPDATE SET phase = excluded.phase, reason = '', slot = excluded.slot, "
        "publication = excluded.publication, fingerprint = excluded.fingerprint, history = "
        "excluded.history, system_identifier = 0, timeline = 0, consistent_point = '0/0', "
        "confirmed = '0/0', sent = '0/0', leaves = '{}', changed_at "
        "= now() WHERE "
        "m.phase IN ('failed', 'preparing')",
        {slot, publication, fingerprint, std::to_string(history)}
    );
    if (!written) {
        return written.error();
    }
    if (*written == 0) {
        return journal_error{
            .what = journal_fault::refused,
            .text = "migration " + migration_ + " has been started already"};
    }
    return {};
}

journal_result<void>
journal::change_phase_with(const std::string& set, phase from, phase to, parameters more) {
    if (!may_follow(from, to) || to == phase::off) {
        return journal_error{
            .what = journal_fault::refused,
            .text = "a migration does not go from " + std::string(to_string(from)) + " to " +
                    std::string(to_string(to))};
    }
    more.insert(more.begin(), {std::string(to_string(from)), std::string(to_string(to))});
    // The new phase may be there already: an attempt whose answer was lost.
    const auto written = fenced(
        "UPDATE pgweir.migration SET phase = $4, changed_at = now(), " + set +
            " WHERE name = $1 AND phase IN ($3, $4) AND EXISTS (SELECT FROM fence)",
        std::move(more)
    );
    if (!written) {
        return written.error();
    }
    if (*written == 0) {
        return journal_error{
            .what = journal_fault::refused,
            .text = "migration " + migration_ + " is not in phase " + std::string(to_string(from))};
    }
    return {};
}

journal_result<void> journal::change_phase(phase from, phase to, const std::string& reason) {
    return change_phase_with("reason = $5", from, to, {reason});
}

journal_result<void> journal::change_phase_at(phase from, phase to, const capture_start& start) {
    return change_phase_with(
        "reason = '', system_identifier = $5::numeric, timeline = $6::bigint, consistent_point = "
        "$7::pg_lsn, confirmed = $7::pg_lsn, sent = $7::pg_lsn, history = $8::bigint",
        from,
        to,
        {std::to_string(start.system_identifier),
         std::to_string(start.timeline),
         lsn_text(start.consistent_point),
         std::to_string(start.history)}
    );
}

journal_result<void> journal::change_reason(phase of, const std::string& reason) {
    const auto written = fenced(
        "UPDATE pgweir.migration SET reason = $4 WHERE name = $1 AND phase = $3 AND EXISTS (SELECT "
        "FROM fence)",
        {std::string(to_string(of)), reason}
    );
    if (!written) {
        return written.error();
    }
    if (*written == 0) {
        return journal_error{
            .what = journal_fault::refused,
            .text = "migration " + migration_ + " is not in phase " + std::string(to_string(of))};
    }
    return {};
}

journal_result<void>
journal::confirm(std::uint32_t timeline, std::uint64_t confirmed, std::uint64_t sent) {
    const auto written = fenced(
        "UPDATE pgweir.migration SET timeline = $3::bigint, confirmed = $4::pg_lsn, sent = "
        "$5::pg_lsn WHERE name = $1 AND EXISTS (SELECT FROM fence)",
        {std::to_string(timeline), lsn_text(confirmed), lsn_text(sent)}
    );
    if (!written) {
        return written.error();
    }
    if (*written == 0) {
        return journal_error{
            .what = journal_fault::refused,
            .text = "migration " + migration_ + " is not in the journal"};
    }
    return {};
}

journal_result<void> journal::save_leaves(std::span<const std::uint32_t> oids) {
    std::vector<std::string> texts;
    for (const auto oid : oids) {
        texts.push_back(std::to_string(oid));
    }
    const auto written = fenced(
        "UPDATE pgweir.migration SET leaves = $3::text[] WHERE name = $1 AND EXISTS (SELECT FROM "
        "fence)",
        {text_array(texts)}
    );
    if (!written) {
        return written.error();
    }
    return {};
}

journal_result<void> journal::forget() {
    for (const std::string table : {"copy_range", "tombstone", "dead_letter", "verify"}) {
        const auto dropped = fenced(
            "DELETE FROM pgweir." + table +
                " WHERE migration = $1 AND EXISTS (SELECT FROM fence) AND NOT EXISTS (SELECT FROM "
                "pgweir.migration WHERE name = $1 AND phase <> 'removing')",
            {}
        );
        if (!dropped) {
            return dropped.error();
        }
    }
    const auto dropped = fenced(
        "DELETE FROM pgweir.migration WHERE name = $1 AND phase = 'removing' AND EXISTS (SELECT "
        "FROM fence)",
        {}
    );
    if (!dropped) {
        return dropped.error();
    }
    const auto left = load();
    if (!left) {
        return left.error();
    }
    if (left->has_value()) {
        return journal_error{
            .what = journal_fault::refused,
            .text = "migration " + migration_ + " is not in phase removing"};
    }
    return {};
}

}  // namespace weir::migration
