#include "migration/wal_end.hpp"

#include "routing/position.hpp"

#include <charconv>

namespace weir::migration {
namespace {

// XLogPageHeaderData and, on the first page of a segment, XLogLongPageHeaderData; the same in all
// versions of PostgreSQL that are supported.
constexpr std::uint64_t page_header = 24;
constexpr std::uint64_t segment_header = 40;

std::uint64_t number_of(std::string_view text) {
    std::uint64_t read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    return read;
}

}  // namespace

// A record that goes on from the page before may end 16 bytes behind a short header, at 40 bytes:
// only the first page of a segment has the long one.
std::uint64_t end_of_records(std::uint64_t next, const wal_sizes& sizes) {
    const auto page = next - next % sizes.page;
    const auto header = page % sizes.segment == 0 ? segment_header : page_header;
    return next - page == header ? page : next;
}

std::optional<std::uint64_t> wal_end_of(const sql_rows& answer) {
    if (answer.size() != 1) {
        return std::nullopt;
    }
    const auto next = routing::parse_lsn(answer.at(0, 0));
    const wal_sizes sizes{
        .page = number_of(answer.at(0, 1)),
        .segment = number_of(answer.at(0, 2))};
    if (!next || sizes.page == 0 || sizes.segment == 0) {
        return std::nullopt;
    }
    return end_of_records(next->value, sizes);
}

}  // namespace weir::migration
