// Rows of the source read by SQL: pages of the copy, and single rows by key.
#pragma once

#include "migration/plan.hpp"
#include "migration/primary.hpp"
#include "migration/safekeeping.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration {

// A stretch of the key space, in PostgreSQL's order of the key: after `low`, up to and with `high`;
// an end that is not given is open. Keys as PostgreSQL's texts, one for each column.
struct key_range {
    std::optional<std::vector<std::string>> low;
    std::optional<std::vector<std::string>> high;
};

struct source_page {
    std::vector<source_row> rows;
    std::optional<std::vector<std::string>>
        last;  // key of the last row; none: the range is at its end
};

// Whether the transaction has ended for who takes the snapshot, given as pg_current_snapshot()
// writes it. `transaction` lacks the epoch: it is taken as the nearest to the snapshot.
[[nodiscard]] bool visible_in(std::string_view snapshot, std::uint32_t transaction);

// Threads: one at a time.
class source_reader final : public row_reader {
public:
    source_reader(const plan& what, const source_servers& servers);

    [[nodiscard]] std::vector<std::optional<source_row>> reread(std::span<const wanted> rows
    ) override;

    // Up to `limit` rows behind `after` in the order of the key. Throws `stopped`, and
    // std::runtime_error if the server refuses the statement.
    [[nodiscard]] source_page read_page(const key_range& range, std::size_t limit);

    // Bounds that cut the key space into about `parts` ranges of equal size.
    [[nodiscard]] std::vector<std::vector<std::string>> cuts(std::size_t parts);

    // The largest key; nothing if there is no row.
    [[nodiscard]] std::optional<std::vector<std::string>> last_key();

    // The planner's count of rows.
    [[nodiscard]] std::uint64_t estimated_rows();

    [[nodiscard]] primary& server() { return primary_; }

private:
    void await_visible(std::span<const wanted> rows);
    [[nodiscard]] sql_answer
    asked(const std::string& text, std::span<const std::optional<std::string>> parameters);
    [[nodiscard]] source_row row_at(const sql_rows& rows, int row, int first_column) const;
    [[nodiscard]] std::string key_texts(const char* order, std::string& sorted) const;
    [[nodiscard]] std::vector<std::string> key_at(const sql_rows& rows, int row) const;
    [[nodiscard]] std::string columns(const std::string& of) const;

    const plan& plan_;
    const source_servers& servers_;
    primary primary_;
    std::string table_;  // quoted, with ONLY unless it is partitioned
    std::string keys_;   // quoted, separated by commas
};

}  // namespace weir::migration
