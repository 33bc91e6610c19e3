#include "routing/position.hpp"

#include <doctest/doctest.h>

namespace weir::routing {

TEST_SUITE_BEGIN("routing.position");

TEST_CASE("an LSN is read and printed as PostgreSQL does") {
    CHECK(parse_lsn("16/B374D848") == lsn{0x16B374D848});
    CHECK(parse_lsn("0/0") == lsn{0});
    CHECK(parse_lsn("FFFFFFFF/FFFFFFFF") == lsn{~0ULL});
    CHECK(parse_lsn("a/b") == lsn{0xA0000000BULL});
    CHECK(to_string(lsn{0x16B374D848}) == "16/B374D848");
    CHECK(to_string(lsn{0}) == "0/0");
    CHECK(to_string(lsn{~0ULL}) == "FFFFFFFF/FFFFFFFF");
}

TEST_CASE("what is not an LSN is refused") {
    for (const char* text :
         {"",
          "/",
          "16",
          "16/",
          "/16",
          "123456789/0",
          "0/123456789",
          "0/0 ",
          " 0/0",
          "0x1/0",
          "-1/0",
          "1/2/3",
          "g/0"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_lsn(text).has_value());
    }
}

TEST_CASE("positions are ordered by timeline and then by LSN") {
    const position early{1, {1}, {900}};
    const position later{1, {1}, {901}};
    const position after_switch{1, {2}, {100}};
    CHECK(early < later);
    CHECK(later < after_switch);
    CHECK(early == position{1, {1}, {900}});
}

TEST_CASE("positions of two systems have no order") {
    const position ours{1, {1}, {900}};
    const position theirs{2, {1}, {901}};
    CHECK_FALSE(ours < theirs);
    CHECK_FALSE(ours > theirs);
    CHECK_FALSE(ours == theirs);
}

TEST_SUITE_END();

}  // namespace weir::routing
