#include "migration/journal.hpp"
#include "migration/journal_text.hpp"
#include "migration/plan.hpp"

namespace weir::migration {

namespace {

// As in journal_tombstones.cpp.
constexpr const char* digest = "sha256(convert_to($3 || ' ' || $4, 'UTF8'))";

std::vector<std::string> columns_of(const key& what) {
    std::vector<std::string> columns;
    columns.reserve(what.size());
    for (const auto& one : what) {
        columns.push_back(to_text(one));
    }
    return columns;
}

}  // namespace

journal_result<void> journal::set_aside(std::span<const dead_letter> letters) {
    for (const auto& one : letters) {
        const auto written = fenced(
            std::string("INSERT INTO pgweir.dead_letter AS l (migration, digest, namespace, key, "
                        "key_columns, version, operation, reason) SELECT $1, ") +
                digest +
                ", $3, $4, $5::text[], $6, $7, $8 WHERE EXISTS (SELECT FROM fence) ON CONFLICT "
                "(migration, digest) DO UPDATE SET version = excluded.version, operation = "
                "excluded.operation, reason = excluded.reason, at = excluded.at, attempts = "
                "l.attempts + 1 WHERE l.version <= excluded.version",
            {one.space,
             to_text(one.key),
             text_array(columns_of(one.key)),
             to_text(one.version),
             one.operation,
             one.reason}
        );
        if (!written) {
            return written.error();
        }
    }
    return {};
}

journal_result<std::vector<letter>> journal::letters(std::uint64_t limit) {
    const auto rows = read(
        "SELECT namespace, key_columns, version, operation, reason, to_char(at AT TIME ZONE 'UTC', "
        "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), attempts FROM pgweir.dead_letter WHERE migration = $1 "
        "ORDER BY dead_letter.at, digest LIMIT $2::bigint",
        {std::to_string(limit)}
    );
    if (!rows) {
        return rows.error();
    }
    std::vector<letter> found;
    for (int row = 0; row < rows->size(); ++row) {
        letter& one = found.emplace_back();
        one.what.space = rows->at(row, 0);
        one.key_columns = parse_text_array(rows->at(row, 1)).value_or(std::vector<std::string>());
        one.what.key.assign(one.key_columns.begin(), one.key_columns.end());
        one.what.version = parse_version(rows->at(row, 2)).value_or(version());
        one.what.operation = rows->at(row, 3);
        one.what.reason = rows->at(row, 4);
        one.at = rows->at(row, 5);
        one.attempts = static_cast<std::uint32_t>(number_of(rows->at(row, 6)));
    }
    return found;
}

journal_result<std::uint64_t> journal::count_letters() {
    const auto rows = read("SELECT count(*) FROM pgweir.dead_letter WHERE migration = $1");
    if (!rows) {
        return rows.error();
    }
    return number_of(rows->at(0, 0));
}

journal_result<void>
journal::drop_letters(std::span<const document_name> documents, const version& upto) {
    std::vector<std::string> spaces;
    std::vector<std::string> keys;
    for (const auto& [space, name] : documents) {
        spaces.push_back(space);
        keys.push_back(name);
    }
    const auto dropped = fenced(
        "DELETE FROM pgweir.dead_letter WHERE migration = $1 AND EXISTS (SELECT FROM fence) AND "
        "version <= $5 COLLATE \"C\" AND digest IN (SELECT sha256(convert_to(namespace || ' ' || "
        "key, 'UTF8')) FROM unnest($3::text[], $4::text[]) AS given (namespace, key))",
        {text_array(spaces), text_array(keys), to_text(upto)}
    );
    if (!dropped) {
        return dropped.error();
    }
    return {};
}

}  // namespace weir::migration
