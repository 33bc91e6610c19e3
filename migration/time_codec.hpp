// Dates and times of PostgreSQL as microseconds since 1970-01-01 00:00 UTC, see value_kind.
#pragma once

#include "migration/codec_error.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace weir::migration {

inline constexpr std::int64_t time_infinity = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t time_minus_infinity = std::numeric_limits<std::int64_t>::min();

// The server's binary forms: microseconds or days since 2000-01-01.
[[nodiscard]] std::int64_t time_of_timestamp(std::int64_t since_2000);
[[nodiscard]] std::int64_t time_of_date(std::int32_t days_since_2000);

// "2024-02-29", "2024-02-29 12:34:56.789", "… 12:34:56+05:30", "0044-03-15 BC", "infinity".
[[nodiscard]] codec_result<std::int64_t> read_time(std::string_view text);

// The inverse: "2024-02-29 12:34:56.789+00", "2024-02-29" of a date.
[[nodiscard]] std::string timestamp_text(std::int64_t time);
[[nodiscard]] std::string date_text(std::int64_t time);

}  // namespace weir::migration
