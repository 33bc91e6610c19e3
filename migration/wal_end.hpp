// The end of a primary's WAL, as what a slot confirms can reach it.
//
// pg_current_wal_insert_lsn() is the place of the next record. When the last record has filled its
// page, that lies behind the header of the next page, while the end of the last record, which is
// what commits and keepalives tell, is the page's end: on a quiet primary nobody would ever reach
// the former.
#pragma once

#include "migration/sql.hpp"

#include <cstdint>
#include <optional>

namespace weir::migration {

struct wal_sizes {
    std::uint64_t page = 8192;
    std::uint64_t segment = std::uint64_t{16} << 20;
};

// The end of the last record, from the place of the next one.
[[nodiscard]] std::uint64_t end_of_records(std::uint64_t next, const wal_sizes& sizes);

// To be asked of a primary, and what its answer, as text, says; nothing if it makes no sense.
inline constexpr const char* wal_end_question =
    "SELECT pg_current_wal_insert_lsn(), current_setting('wal_block_size'), "
    "pg_size_bytes(current_setting('wal_segment_size'))";
[[nodiscard]] std::optional<std::uint64_t> wal_end_of(const sql_rows& answer);

}  // namespace weir::migration
