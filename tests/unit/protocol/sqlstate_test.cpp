#include "protocol/sqlstate.hpp"

#include <doctest/doctest.h>

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.sqlstate");

TEST_CASE("a code is five digits or capital letters") {
    CHECK(sqlstate::parse("57P01") == sqlstates::admin_shutdown);
    CHECK(sqlstate::parse("XX000") == sqlstates::internal_error);
    for (const auto* text : {"", "0800", "080066", "08p01", "08 01", "08-01"}) {
        CAPTURE(text);
        CHECK_FALSE(sqlstate::parse(text).has_value());
    }
}

TEST_CASE("the class is its first two characters") {
    CHECK(sqlstates::connection_failure.error_class() == "08");
    CHECK(sqlstates::too_many_connections.error_class() == "53");
    CHECK(sqlstate{}.text() == "00000");
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
