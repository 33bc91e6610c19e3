// Reading rows of a migration's table by SQL: what to select, and what a row of the answer is. The
// values are the same as those the stream brings.
#pragma once

#include "migration/change.hpp"
#include "migration/plan.hpp"
#include "migration/sql.hpp"

#include <boost/system/result.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration {

// `"public"."items" AS t`, with ONLY unless it is partitioned: children by inheritance are no part
// of the migration.
[[nodiscard]] std::string from_table(const plan& what);

// Key columns, embedding, attributes, OID of the partition, of the table named `t`; so many columns
// has row_width().
[[nodiscard]] std::string row_columns(const plan& what);
[[nodiscard]] std::size_t row_width(const plan& what);

// A row of a binary answer that begins with row_columns(). An error is a reason with the column.
[[nodiscard]] boost::system::result<source_row, std::string>
read_row(const plan& what, const sql_rows& rows, int row);

// Selects rows by key: row_columns(), then the key's place in the arrays, from 1 (int8). Its
// parameters are key_arrays(). Keys must differ.
[[nodiscard]] std::string select_by_key(const plan& what);
[[nodiscard]] std::vector<std::optional<std::string>>
key_arrays(const plan& what, std::span<const key* const> keys);

}  // namespace weir::migration
