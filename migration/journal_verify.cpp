#include "migration/journal.hpp"
#include "migration/journal_text.hpp"

#include <array>
#include <utility>

namespace weir::migration {
namespace {

constexpr std::array sides{"source", "store", "done"};

// Of the source the last key; of the store the namespace, and its own cursor in it unless it has
// been read to its end.
std::optional<std::string> text_of(const verify_cursor& cursor) {
    switch (cursor.at) {
    case verify_cursor::side::source:
        return cursor.last ? std::optional(text_array(*cursor.last)) : std::nullopt;
    case verify_cursor::side::store: {
        std::vector<std::string> parts{cursor.space};
        if (!cursor.space_over) {
            parts.push_back(cursor.next);
        }
        return text_array(parts);
    }
    case verify_cursor::side::done: break;
    }
    return std::nullopt;
}

verify_cursor cursor_of(std::string_view side, std::optional<std::vector<std::string>> parts) {
    verify_cursor cursor;
    if (side == sides[1]) {
        cursor.at = verify_cursor::side::store;
        if (parts && !parts->empty()) {
            cursor.space = parts->front();
            cursor.space_over = parts->size() == 1;
            cursor.next = cursor.space_over ? "" : parts->back();
        }
    } else if (side == sides[2]) {
        cursor.at = verify_cursor::side::done;
    } else {
        cursor.last = std::move(parts);
    }
    return cursor;
}

}  // namespace

journal_result<void> journal::save_verify(const verify_progress& progress) {
    const auto& report = progress.report;
    const auto written = fenced(
        "INSERT INTO pgweir.verify AS v (migration, repair, over, failure, side, cursor, rows, "
        "documents, missing, extra, different, repaired, unrepaired, unsettled, changed_at) SELECT "
        "$1, $3::boolean, $4::boolean, $5, $6, $7::text[], $8::bigint, $9::bigint, $10::bigint, "
        "$11::bigint, $12::bigint, $13::bigint, $14::bigint, $15::bigint, clock_timestamp() WHERE "
        "EXISTS (SELECT FROM fence) ON CONFLICT (migration) DO UPDATE SET (repair, over, failure, "
        "side, cursor, rows, documents, missing, extra, different, repaired, unrepaired, "
        "unsettled, changed_at) = (excluded.repair, excluded.over, excluded.failure, "
        "excluded.side, excluded.cursor, excluded.rows, excluded.documents, excluded.missing, "
        "excluded.extra, excluded.different, excluded.repaired, excluded.unrepaired, "
        "excluded.unsettled, excluded.changed_at)",
        {progress.repair ? "t" : "f",
         progress.over ? "t" : "f",
         progress.failure,
         sides.at(static_cast<std::size_t>(progress.cursor.at)),
         text_of(progress.cursor),
         std::to_string(report.rows),
         std::to_string(report.documents),
         std::to_string(report.missing),
         std::to_string(report.extra),
         std::to_string(report.different),
         std::to_string(report.repaired),
         std::to_string(report.unrepaired),
         std::to_string(report.unsettled)}
    );
    if (!written) {
        return written.error();
    }
    return {};
}

journal_result<std::optional<verify_progress>> journal::last_verify() {
    const auto rows = read(
        "SELECT repair, over, failure, side, cursor, rows, documents, missing, extra, different, "
        "repaired, unrepaired, unsettled FROM pgweir.verify WHERE migration = $1"
    );
    if (!rows) {
        return rows.error();
    }
    if (rows->size() == 0) {
        return std::optional<verify_progress>();
    }
    verify_progress found{
        .repair = rows->at(0, 0) == "t",
        .over = rows->at(0, 1) == "t",
        .failure = std::string(rows->at(0, 2)),
        .cursor = cursor_of(
            rows->at(0, 3),
            rows->is_null(0, 4) ? std::nullopt : parse_text_array(rows->at(0, 4))
        ),
        .report = {}};
    int column = 5;
    auto& report = found.report;
    for (auto* count :
         {&report.rows,
          &report.documents,
          &report.missing,
          &report.extra,
          &report.different,
          &report.repaired,
          &report.unrepaired,
          &report.unsettled}) {
        *count = number_of(rows->at(0, column++));
    }
    return std::optional(std::move(found));
}

journal_result<void> journal::drop_verify() {
    const auto dropped =
        fenced("DELETE FROM pgweir.verify WHERE migration = $1 AND EXISTS (SELECT FROM fence)", {});
    if (!dropped) {
        return dropped.error();
    }
    return {};
}

}  // namespace weir::migration
