// Relations: which are ours, and whether their columns fit.
#include "tests/unit/migration/translator_stage.hpp"

namespace weir::migration {

using test::columns;
using test::halfvec_oid;
using test::integer;
using test::row_one;
using test::small_plan;
using test::stage;
using test::table;
using test::vector_field;
using test::vector_oid;

TEST_SUITE_BEGIN("migration.translator_relations");

TEST_CASE("B138 TRUNCATE empties the table or the partitions it names") {
    auto what = small_plan();
    CHECK(stage(what).only<emptied>(test::truncate({table}, 3)).part == 0);
    what.partitioned = true;
    stage at(what, columns(), [](std::uint32_t oid) { return oid < 600; });
    at.feed(test::relation(501, columns(), "items_1"));
    at.feed(test::relation(502, columns(), "items_2"));
    at.feed(test::relation(700, columns(), "others"));
    const auto made = at.feed(test::truncate({501, 700, 502, table}));
    REQUIRE(made.size() == 3);
    CHECK(std::get<emptied>(made[0].what).part == 501);
    CHECK(std::get<emptied>(made[1].what).part == 502);
    CHECK(std::get<emptied>(made[2].what).part == 0);
    CHECK(made[1].version.ordinal == 2);
}

TEST_CASE("partitions are told by the lookup or beforehand") {
    auto what = small_plan();
    what.partitioned = true;
    std::optional<bool> answer = true;
    unsigned asked = 0;
    stage at(what, columns(), [&](std::uint32_t) {
        ++asked;
        return answer;
    });
    CHECK(asked == 0);  // not about the table itself
    at.feed(test::relation(501, columns(), "items_1"));
    CHECK(at.only<row_written>(test::insert(501, row_one)).row.part == 501);
    at.under_test.set_relation(502, false);
    at.feed(test::relation(502, columns(), "items_2"));
    CHECK(at.feed(test::insert(502, row_one)).empty());
    CHECK(asked == 1);
    answer = std::nullopt;
    CHECK(at.error_of(test::relation(503, columns(), "items_3")));
    answer = false;
    at.feed(test::relation(501, columns(), "items_1"));  // it was detached
    CHECK(at.feed(test::insert(501, row_one)).empty());
}

TEST_CASE("a table without partitions has no other relations") {
    stage at(small_plan(), columns(), [](std::uint32_t) { return true; });
    at.feed(test::relation(501, columns()));
    CHECK(at.feed(test::insert(501, row_one)).empty());
}

TEST_CASE("B144 an identical Relation and new columns and another order change nothing") {
    stage at;
    at.feed(test::relation(table, columns()));
    CHECK(at.only<row_written>(test::insert(table, row_one)).row.embedding);
    const std::vector<test::sent_column> moved = {
        {"new", 1700, -1, false},
        {"e", vector_oid, 2, false},
        {"body", 1043, 24, false},
        {"id", 20, -1, true},
        {"org", 21, -1, false}};
    at.feed(test::relation(table, moved, "renamed"));
    const auto made = at.only<row_written>(test::insert(
        table,
        {test::null(),
         vector_field({3, 4}),
         test::text("moved"),
         test::text("5"),
         test::binary(std::string("\0\6", 2))}
    ));
    CHECK((made.row.key == key{integer(5)}));
    CHECK(made.row.embedding == std::vector<float>{3, 4});
    CHECK((made.row.attributes == std::vector<value>{integer(6), std::string("moved")}));
}

TEST_CASE("B144 a Relation that does not fit makes rows unusable until one that fits") {
    struct sample {
        const char* name;
        std::size_t column;
        test::sent_column becomes;
        const char* reason;
    };

    const std::vector<sample> all = {
        {"embedding renamed",
         4,
         {"e2", vector_oid, 2, false},
         "public.items: column \"e\" is missing: it was dropped or renamed"},
        {"dimension",
         4,
         {"e", vector_oid, 3, false},
         "public.items: column \"e\" has 3 dimensions instead of 2"},
        {"halfvec",
         4,
         {"e", halfvec_oid, 2, false},
         "public.items: column \"e\" has another type than vector"},
        {"array",
         4,
         {"e", 1021, -1, false},
         "public.items: column \"e\" has another type than vector"},
        {"key dropped",
         0,
         {"id_old", 23, -1, true},
         "public.items: column \"id\" is missing: it was dropped or renamed"},
        {"key's kind",
         0,
         {"id", 25, -1, true},
         "public.items: column \"id\" has another type than integer"},
        {"identity",
         0,
         {"id", 23, -1, false},
         "public.items: column \"id\" is not in the replica identity any more"},
        {"attribute's kind",
         3,
         {"body", 3802, -1, false},
         "public.items: column \"body\" has another type than text"},
    };
    for (const auto& each : all) {
        CAPTURE(each.name);
        stage at;
        auto changed = columns();
        changed[each.column] = each.becomes;
        at.feed(test::relation(table, changed));
        CHECK(at.only<unusable>(test::insert(table, row_one)).reason == each.reason);
        CHECK(at.only<unusable>(test::erase(table, 'K', row_one)).reason == each.reason);
        at.feed(test::relation(table, columns()));
        CHECK(at.only<row_written>(test::insert(table, row_one)).row.embedding);
    }
}

TEST_CASE("domains and enumerations have the kind of what is below them") {
    auto what = small_plan();
    what.layout.key[0].type = "numbering";
    stage at(what);
    at.feed(test::type(16'600, "", "int4"));
    at.feed(test::type(16'601, "public", "mood"));
    at.feed(test::type(16'602, "public", "vector"));
    auto as = columns();
    as[0].type = 16'600;
    as[3].type = 16'601;
    as[4] = {"e", 16'602, -1, false};
    at.feed(test::relation(table, as));
    CHECK(at.only<row_written>(test::insert(table, row_one)).row.embedding);
    as[1].type = 16'601;
    at.feed(test::relation(table, as));
    CHECK(
        at.only<unusable>(test::insert(table, row_one)).reason ==
        "public.items: column \"org\" has another type than integer"
    );
}

TEST_CASE("a vector of another length in a column without a dimension is handed on") {
    stage at;
    auto as = columns();
    as[4].modifier = -1;
    at.feed(test::relation(table, as));
    auto row = row_one;
    row[4] = vector_field({1, 2, 3});
    CHECK(at.only<row_written>(test::insert(table, row)).row.embedding->size() == 3);
}

TEST_SUITE_END();

}  // namespace weir::migration
