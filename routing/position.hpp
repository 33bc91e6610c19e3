// A WAL position: {system identifier, timeline, LSN}. The only truth about time between servers.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::routing {

// Byte position in the WAL, PostgreSQL's pg_lsn ("16/B374D848").
struct lsn {
    std::uint64_t value = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    friend auto operator<=>(lsn, lsn) = default;
};

struct timeline_id {
    std::uint32_t value = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    friend auto operator<=>(timeline_id, timeline_id) = default;
};

struct position {
    std::uint64_t system_identifier = 0;
    timeline_id timeline{};
    lsn at{};
    friend bool operator==(const position&, const position&) = default;
};

// {timeline, LSN} within one system; positions of two systems have no order.
[[nodiscard]] std::partial_ordering operator<=>(const position& left, const position& right);

// Exactly PostgreSQL's form: two runs of 1 to 8 hexadecimal digits around a slash.
[[nodiscard]] std::optional<lsn> parse_lsn(std::string_view text);
[[nodiscard]] std::string to_string(lsn at);

}  // namespace weir::routing
