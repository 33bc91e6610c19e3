// The version of a row in a store: where its change lies in the primary's WAL.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::migration {

// Ordered by timeline (plus migration_record::history), then by the LSN of the commit, then by the
// place within the transaction. A row of the first copy has the slot's consistent point and ordinal
// 0: every streamed change is newer. With `capture: outbox` the LSN is the outbox id.
struct version {
    std::uint32_t timeline = 0;
    std::uint64_t lsn = 0;
    std::uint32_t ordinal = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): false alarm of clang-tidy 14
    friend auto operator<=>(const version&, const version&) = default;
};

// "tttttttt.llllllllllllllll.oooooooo" in hexadecimal: 34 characters whose order as text is the
// order of versions, so that a store can compare them.
[[nodiscard]] std::string to_text(const version& what);
[[nodiscard]] std::optional<version> parse_version(std::string_view text);

}  // namespace weir::migration
