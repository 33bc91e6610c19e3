// Rows of the stream become changes.
#include "tests/unit/migration/translator_stage.hpp"

namespace weir::migration {

using test::columns;
using test::halfvec_oid;
using test::integer;
using test::number;
using test::row_one;
using test::small_plan;
using test::stage;
using test::table;

TEST_SUITE_BEGIN("migration.translator");

TEST_CASE("an insert is a row by the names of its columns") {
    stage at;
    const auto made = at.only<row_written>(test::insert(table, row_one));
    CHECK(made.inserted);
    CHECK((made.row.key == key{integer(1)}));
    CHECK(made.row.embedding == std::vector<float>{1, 2});
    CHECK_FALSE(made.row.embedding_unknown);
    CHECK((made.row.attributes == std::vector<value>{integer(17), std::string("hello")}));
    CHECK(made.row.unknown.empty());
    CHECK(made.row.part == 0);
    CHECK_FALSE(made.old_key);
    CHECK_FALSE(made.old_tenant);
}

TEST_CASE("versions count the rows of a transaction from its final LSN on") {
    stage at;
    const auto first = at.feed(test::insert(table, row_one));
    const auto second = at.feed(test::erase(table, 'K', row_one));
    CHECK((first.at(0).version == version{3, 100, 0}));
    CHECK((second.at(0).version == version{3, 100, 1}));
    CHECK(first.at(0).transaction == 700);
    at.feed(test::commit(100, 120));
    CHECK_FALSE(at.under_test.in_transaction());
    at.feed(test::begin(200, 701));
    CHECK(at.under_test.in_transaction());
    const auto third = at.feed(test::insert(table, row_one));
    CHECK((third.at(0).version == version{3, 200, 0}));
    CHECK(third.at(0).transaction == 701);
}

TEST_CASE("rows of other relations are ignored and counted") {
    stage at;
    at.feed(test::relation(77, columns(), "others"));
    CHECK(at.feed(test::insert(77, row_one)).empty());
    CHECK(at.feed(test::truncate({77})).empty());
    CHECK(at.feed(test::insert(table, row_one)).at(0).version.ordinal == 2);
}

TEST_CASE("B148 NULL embeddings are absent and not unknown") {
    stage at;
    auto row = row_one;
    row[4] = test::null();
    const auto made = at.only<row_written>(test::insert(table, row));
    CHECK_FALSE(made.row.embedding);
    CHECK_FALSE(made.row.embedding_unknown);
}

TEST_CASE("B134 unchanged TOASTed values are marked as not known") {
    stage at;
    auto row = row_one;
    row[3] = test::unchanged();
    row[4] = test::unchanged();
    const auto made = at.only<row_written>(test::update(table, 0, {}, row));
    CHECK_FALSE(made.inserted);
    CHECK(made.row.embedding_unknown);
    CHECK_FALSE(made.row.embedding);
    CHECK(made.row.unknown == std::vector<std::size_t>{1});
    REQUIRE(made.row.attributes.size() == 2);
    CHECK((made.row.attributes[0] == integer(17)));
    CHECK(is_null(made.row.attributes[1]));
}

TEST_CASE("B135 unchanged TOASTed values are filled from the old tuple of a full identity") {
    stage at(small_plan(), columns(false, true));
    auto row = row_one;
    row[3] = test::unchanged();
    row[4] = test::unchanged();
    auto old = row_one;
    old[1] = number(16);
    const auto made = at.only<row_written>(test::update(table, 'O', old, row));
    CHECK(made.row.embedding == std::vector<float>{1, 2});
    CHECK_FALSE(made.row.embedding_unknown);
    CHECK(made.row.unknown.empty());
    CHECK((made.row.attributes[1] == value(std::string("hello"))));
    CHECK((*made.old_key == key{integer(1)}));
    CHECK((*made.old_tenant == integer(16)));
    old[4] = test::null();
    const auto without = at.only<row_written>(test::update(table, 'O', old, row));
    CHECK_FALSE(without.row.embedding);
    CHECK_FALSE(without.row.embedding_unknown);
}

TEST_CASE("B137 a change of key has the old key and not the vector") {
    stage at;
    auto row = row_one;
    row[0] = number(9);
    row[4] = test::unchanged();
    const test::sent_tuple old =
        {number(1), test::null(), test::null(), test::null(), test::null()};
    const auto made = at.only<row_written>(test::update(table, 'K', old, row));
    CHECK((made.row.key == key{integer(9)}));
    CHECK((*made.old_key == key{integer(1)}));
    CHECK(made.row.embedding_unknown);
    // The old tuple's nulls are no values: the tenant is not part of this identity.
    CHECK_FALSE(made.old_tenant);
}

TEST_CASE("the old tenant is known where the identity holds it") {
    stage at(small_plan(), columns(true));
    const test::sent_tuple old = {number(1), number(16), test::null(), test::null(), test::null()};
    const auto made = at.only<row_written>(test::update(table, 'K', old, row_one));
    CHECK((*made.old_key == key{integer(1)}));
    CHECK((*made.old_tenant == integer(16)));
    const auto gone = at.only<row_deleted>(test::erase(table, 'K', old));
    CHECK((gone.key == key{integer(1)}));
    CHECK((*gone.tenant == integer(16)));
}

TEST_CASE("a delete has the key and no tenant outside of the identity") {
    stage at;
    const test::sent_tuple old =
        {number(1), test::null(), test::null(), test::null(), test::null()};
    const auto gone = at.only<row_deleted>(test::erase(table, 'K', old));
    CHECK((gone.key == key{integer(1)}));
    CHECK_FALSE(gone.tenant);
}

TEST_CASE("a key that is an unchanged TOASTed value is taken from the old tuple") {
    auto what = small_plan();
    what.layout.key = {{.name = "body", .kind = value_kind::text, .type = "text"}};
    auto as = columns();
    as[3].identity = true;
    stage at(what, as);
    auto row = row_one;
    row[3] = test::unchanged();
    const auto made = at.only<row_written>(test::update(table, 'K', row_one, row));
    CHECK((made.row.key == key{std::string("hello")}));
    CHECK(
        at.only<unusable>(test::update(table, 0, {}, row)).reason.find("body") != std::string::npos
    );
}

TEST_CASE("halfvec in both forms is widened") {
    auto what = small_plan();
    what.layout.half = true;
    auto as = columns();
    as[4].type = halfvec_oid;
    stage at(what, as);
    std::string half;
    REQUIRE(append_halfvec(half, std::vector<float>{0.5F, -2}));
    auto row = row_one;
    row[4] = test::binary(half);
    CHECK(
        at.only<row_written>(test::insert(table, row)).row.embedding == std::vector<float>{0.5F, -2}
    );
    row[4] = test::text("[0.5,-2]");
    CHECK(
        at.only<row_written>(test::insert(table, row)).row.embedding == std::vector<float>{0.5F, -2}
    );
}

TEST_CASE("values that cannot be read make the row unusable") {
    stage at;
    auto row = row_one;
    row[0] = test::null();
    CHECK(
        at.only<unusable>(test::insert(table, row)).reason ==
        "public.items: column \"id\": is part of the key and NULL"
    );
    row = row_one;
    row[4] = test::binary("abc");
    CHECK(
        at.only<unusable>(test::insert(table, row)).reason ==
        "public.items: column \"e\": the length is wrong"
    );
    row = row_one;
    row[1] = test::text("x");
    CHECK(
        at.only<unusable>(test::insert(table, row)).reason ==
        "public.items: column \"org\": the text is not of its type's form"
    );
}

TEST_CASE("a stream that cannot be is an error") {
    stage at;
    CHECK(at.error_of(test::insert(4711, row_one)));
    CHECK(at.error_of(test::truncate({4711})));
    CHECK(at.error_of(test::insert(table, {number(1)})));
    CHECK(at.error_of(test::commit(99, 120)));
    at.feed(test::commit(100, 120));
    CHECK(at.error_of(test::insert(table, row_one)));
    CHECK(at.error_of(test::truncate({table})));
    CHECK(at.error_of(test::commit(100, 120)));
}

TEST_CASE("an old tuple of another width makes the row unusable") {
    stage at;
    CHECK(
        at.only<unusable>(test::update(table, 'K', {number(1)}, row_one)).reason ==
        "public.items: a row with too few or too many columns"
    );
}

TEST_SUITE_END();

}  // namespace weir::migration
