#include "protocol/ledger.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.ledger");

TEST_CASE("the end of a hushed unit is nobody's business and the next unit is the client's") {
    ledger book;
    std::vector<ledger_entry> dropped;
    for (const auto kind : {owed::bind, owed::execute, owed::sync, owed::sync}) {
        CHECK(book.push({.kind = kind}));
    }
    CHECK(book.on_message('E', dropped).what == verdict::forward);
    book.hush_front();
    CHECK(book.on_message('Z', dropped).what == verdict::swallow);
    CHECK(book.on_message('Z', dropped).what == verdict::forward);
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
