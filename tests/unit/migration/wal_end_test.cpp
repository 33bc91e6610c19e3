#include "migration/wal_end.hpp"

#include <doctest/doctest.h>

namespace weir::migration {

TEST_SUITE_BEGIN("migration.wal_end");

TEST_CASE("behind the header of a page the records end before it") {
    constexpr std::uint64_t segment = std::uint64_t{16} << 20;
    constexpr std::uint64_t at = 5 * segment;

    struct row {
        std::string_view name;
        std::uint64_t next;
        std::uint64_t end;
    };

    const row rows[] = {
        {"in the middle of a page", at + 8192 + 4000, at + 8192 + 4000},
        {"behind a short header", at + 8192 + 24, at + 8192},
        {"behind the short header of the last page", at + segment - 8192 + 24, at + segment - 8192},
        {"behind the long header of a segment", at + 40, at},
        // A record from the page before, of which 16 bytes were left.
        {"40 bytes into another page", at + 8192 + 40, at + 8192 + 40},
        {"24 bytes into a segment", at + 24, at + 24},
        {"at the end of a page", at + 8192, at + 8192},
        {"before everything", 0, 0},
    };
    for (const auto& r : rows) {
        CAPTURE(r.name);
        CHECK(end_of_records(r.next, {}) == r.end);
    }
}

TEST_CASE("pages and segments of other sizes") {
    const wal_sizes sizes{.page = 16384, .segment = std::uint64_t{1} << 20};
    CHECK(end_of_records((std::uint64_t{3} << 20) + 40, sizes) == std::uint64_t{3} << 20);
    CHECK(end_of_records((std::uint64_t{3} << 20) + 8192 + 24, sizes) == 3153944);
    CHECK(end_of_records((std::uint64_t{3} << 20) + 16384 + 24, sizes) == 3162112);
}

TEST_SUITE_END();

}  // namespace weir::migration
