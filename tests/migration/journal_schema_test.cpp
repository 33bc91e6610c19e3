#include "migration/journal_schema.hpp"

#include "tests/migration/source_tools.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace weir::migration {

using test::clean_journal;

TEST_SUITE_BEGIN("migration.journal_schema");

TEST_CASE("the schema is made once by many and is refused when it is newer") {
    const clean_journal clean;
    {
        std::vector<std::jthread> makers;
        for (int i = 0; i < 4; ++i) {
            makers.emplace_back([] {
                sql_session session;
                CHECK_FALSE(session.connect(test::primary_address()).has_value());
                CHECK_FALSE(ensure_journal(session).has_value());
            });
        }
    }
    auto session = test::superuser();
    CHECK(session.value("SELECT count(*) FROM pgweir.meta WHERE version = 2") == "1");
    session.query("UPDATE pgweir.meta SET version = 3");
    sql_session late;
    REQUIRE_FALSE(late.connect(test::primary_address()).has_value());
    const auto refused = ensure_journal(late);
    REQUIRE(refused.has_value());
    CHECK(refused->text.ends_with(": schema pgweir has version 3; this program works with version 2"
    ));
}

TEST_SUITE_END();

}  // namespace weir::migration
