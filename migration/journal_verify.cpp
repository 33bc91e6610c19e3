#include "migration/journal.hpp"
#include "migration/journal_text.hpp"

namespace weir::migration {

journal_result<void> journal::save_verify(const verify_progress& progress) {
    const auto written = fenced(
        "INSERT INTO pgweir.verify AS v (migration, run, side, cursor, checked, missing, extra, "
        "different, finished) SELECT $1, $3::bigint, $4, $5, $6::bigint, $7::bigint, $8::bigint, "
        "$9::bigint, $10::boolean WHERE EXISTS (SELECT FROM fence) ON CONFLICT (migration, run, "
        "side) DO UPDATE SET cursor = excluded.cursor, checked = excluded.checked, missing = "
        "excluded.missing, extra = excluded.extra, different = excluded.different, finished = "
        "excluded.finished, changed_at = clock_timestamp()",
        {std::to_string(progress.run),
         progress.side == verify_side::source ? "source" : "store",
         progress.cursor,
         std::to_string(progress.checked),
         std::to_string(progress.missing),
         std::to_string(progress.extra),
         std::to_string(progress.different),
         progress.finished ? "t" : "f"}
    );
    if (!written) {
        return written.error();
    }
    return {};
}

journal_result<std::vector<verify_progress>> journal::last_verify() {
    const auto rows = read(
        "SELECT run, side, cursor, checked, missing, extra, different, finished FROM pgweir.verify "
        "WHERE migration = $1 AND run = (SELECT max(run) FROM pgweir.verify WHERE migration = $1) "
        "ORDER BY side"
    );
    if (!rows) {
        return rows.error();
    }
    std::vector<verify_progress> found;
    found.reserve(2);
    for (int row = 0; row < rows->size(); ++row) {
        found.push_back(
            {.run = static_cast<std::int64_t>(number_of(rows->at(row, 0))),
             .side = rows->at(row, 1) == "store" ? verify_side::store : verify_side::source,
             .cursor = std::string(rows->at(row, 2)),
             .checked = number_of(rows->at(row, 3)),
             .missing = number_of(rows->at(row, 4)),
             .extra = number_of(rows->at(row, 5)),
             .different = number_of(rows->at(row, 6)),
             .finished = rows->at(row, 7) == "t"}
        );
    }
    return found;
}

}  // namespace weir::migration
