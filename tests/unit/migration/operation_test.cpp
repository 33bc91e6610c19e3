#include "migration/operation.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace weir::migration {
namespace {

using kind = operation::kind;

plan tenant_plan() {
    plan made;
    made.layout.key = {{"id", value_kind::integer, "bigint"}};
    made.layout.attributes = {
        {"org", value_kind::integer, "integer"},
        {"title", value_kind::text, "text"}};
    made.layout.dimensions = 2;
    made.tenant = 0;
    made.name_of = {.before = "org-", .tenant = true, .after = ""};
    return made;
}

change written(std::int64_t id, std::int64_t org, std::optional<std::vector<float>> embedding) {
    row_written row;
    row.row.key = {id};
    row.row.attributes = {org, std::string("t")};
    row.row.embedding = std::move(embedding);
    return {.what = std::move(row), .version = {1, 100, 3}, .transaction = 7};
}

row_written& row_of(change& of) {
    return std::get<row_written>(of.what);
}

operation single(kind what, std::int64_t id, version at) {
    operation made;
    made.what = what;
    made.space = "s";
    made.document.key = {id};
    made.document.version = at;
    if (what == kind::upsert) {
        made.document.embedding = {1, 2};
    }
    if (what != kind::remove) {
        made.document.attributes = {static_cast<std::int64_t>(at.lsn)};
    }
    return made;
}

}  // namespace

TEST_SUITE_BEGIN("migration.operation");

TEST_CASE("an insert is an upsert in the tenant's namespace") {
    auto all = operations_of(tenant_plan(), written(5, 17, std::vector<float>{1, 2}));
    REQUIRE(all.size() == 1);
    CHECK(all[0].what == kind::upsert);
    CHECK(all[0].space == "org-17");
    CHECK(all[0].document.key == key{std::int64_t{5}});
    CHECK(all[0].document.embedding == std::vector<float>{1, 2});
    CHECK(all[0].document.version == version{1, 100, 3});
    CHECK(all[0].transaction == 7);
}

TEST_CASE("B148 a NULL embedding removes the document") {
    auto all = operations_of(tenant_plan(), written(5, 17, std::nullopt));
    REQUIRE(all.size() == 1);
    CHECK(all[0].what == kind::remove);
    CHECK(all[0].space == "org-17");
}

TEST_CASE("B134 an unchanged embedding is a patch") {
    auto from = written(5, 17, std::nullopt);
    row_of(from).row.embedding_unknown = true;
    auto all = operations_of(tenant_plan(), std::move(from));
    REQUIRE(all.size() == 1);
    CHECK(all[0].what == kind::patch);
    CHECK(all[0].document.attributes.size() == 2);
    CHECK(all[0].document.embedding.empty());
}

TEST_CASE("an unknown attribute asks for the row") {
    auto from = written(5, 17, std::vector<float>{1, 2});
    row_of(from).row.unknown = {1};
    auto all = operations_of(tenant_plan(), std::move(from));
    REQUIRE(all.size() == 1);
    CHECK(all[0].what == kind::reread);
}

TEST_CASE("B137 a key change without its vector is a removal and a row read again") {
    auto from = written(1005, 17, std::nullopt);
    row_of(from).row.embedding_unknown = true;
    row_of(from).old_key = key{std::int64_t{5}};
    row_of(from).old_tenant = value{std::int64_t{17}};
    auto all = operations_of(tenant_plan(), std::move(from));
    REQUIRE(all.size() == 2);
    CHECK(all[0].what == kind::remove);
    CHECK(all[0].document.key == key{std::int64_t{5}});
    CHECK(all[1].what == kind::reread);
    CHECK(all[1].document.key == key{std::int64_t{1005}});
}

TEST_CASE("a change of the tenant moves the document to another namespace") {
    auto from = written(5, 18, std::vector<float>{1, 2});
    row_of(from).old_tenant = value{std::int64_t{17}};
    auto all = operations_of(tenant_plan(), std::move(from));
    REQUIRE(all.size() == 2);
    CHECK(all[0].what == kind::remove);
    CHECK(all[0].space == "org-17");
    CHECK(all[1].what == kind::upsert);
    CHECK(all[1].space == "org-18");
}

TEST_CASE("the same old key and tenant move nothing") {
    auto from = written(5, 17, std::vector<float>{1, 2});
    row_of(from).old_key = key{std::int64_t{5}};
    row_of(from).old_tenant = value{std::int64_t{17}};
    CHECK(operations_of(tenant_plan(), std::move(from)).size() == 1);
}

TEST_CASE("a delete goes to the tenant's namespace") {
    change from{.what = row_deleted{key{std::int64_t{5}}, value{std::int64_t{17}}}, .version = {}};
    auto all = operations_of(tenant_plan(), std::move(from));
    REQUIRE(all.size() == 1);
    CHECK(all[0].what == kind::remove);
    CHECK(all[0].space == "org-17");
}

TEST_CASE("a tenant that is part of the key is known from it") {
    auto what = tenant_plan();
    what.layout.key = {
        {"org", value_kind::integer, "integer"},
        {"id", value_kind::integer, "bigint"}};
    what.layout.attributes.erase(what.layout.attributes.begin());
    what.tenant.reset();
    what.tenant_in_key = 0;
    row_written row;
    row.row.key = {std::int64_t{18}, std::int64_t{5}};
    row.row.attributes = {std::string("t")};
    row.row.embedding_unknown = true;
    row.old_key = key{std::int64_t{17}, std::int64_t{5}};
    auto all = operations_of(what, {.what = std::move(row), .version = {}});
    REQUIRE(all.size() == 2);
    CHECK(all[0].space == "org-17");
    CHECK(all[1].space == "org-18");
    CHECK(all[1].what == kind::reread);
}

TEST_CASE("operations on one document become one") {
    std::vector<operation> all;
    all.push_back(single(kind::upsert, 1, {1, 10, 0}));
    all.push_back(single(kind::upsert, 2, {1, 11, 0}));
    all.push_back(single(kind::patch, 1, {1, 12, 0}));
    all.push_back(single(kind::remove, 2, {1, 13, 0}));
    auto left = collapsed(std::move(all));
    REQUIRE(left.size() == 2);
    CHECK(left[0].what == kind::upsert);
    CHECK(left[0].document.embedding == std::vector<float>{1, 2});
    CHECK(left[0].document.attributes == std::vector<value>{std::int64_t{12}});
    CHECK(left[0].document.version == version{1, 12, 0});
    CHECK(left[1].what == kind::remove);
}

TEST_CASE("B139 a copied row never replaces a streamed one") {
    std::vector<operation> all;
    all.push_back(single(kind::remove, 1, {1, 12, 0}));
    all.push_back(single(kind::upsert, 1, {1, 10, 0}));
    all.back().copied = true;
    auto left = collapsed(std::move(all));
    REQUIRE(left.size() == 1);
    CHECK(left[0].what == kind::remove);
}

TEST_CASE("a patch behind a removal or an unread row asks for the row") {
    for (const auto first : {kind::remove, kind::reread}) {
        std::vector<operation> all;
        all.push_back(single(first, 1, {1, 10, 0}));
        all.push_back(single(kind::patch, 1, {1, 11, 0}));
        auto left = collapsed(std::move(all));
        REQUIRE(left.size() == 1);
        CHECK(left[0].what == kind::reread);
    }
}

TEST_CASE("a patch behind a copied row or a repair asks for the row") {
    for (const bool copied : {true, false}) {
        std::vector<operation> all;
        all.push_back(single(kind::upsert, 1, {1, 10, 0}));
        all.back().copied = copied;
        all.back().guarded = !copied;
        all.push_back(single(kind::patch, 1, {1, 11, 0}));
        auto left = collapsed(std::move(all));
        REQUIRE(left.size() == 1);
        CHECK(left[0].what == kind::reread);
        CHECK(left[0].document.version == version{1, 11, 0});
    }
}

TEST_CASE("the same key in two namespaces is two documents") {
    std::vector<operation> all;
    all.push_back(single(kind::upsert, 1, {1, 10, 0}));
    all.push_back(single(kind::upsert, 1, {1, 11, 0}));
    all.back().space = "t";
    CHECK(collapsed(std::move(all)).size() == 2);
}

TEST_CASE("different keys have different identities") {
    CHECK(identity({std::int64_t{1}}) != identity({std::string("1")}));
    CHECK(identity({std::string("a"), std::string("b")}) != identity({std::string("ab")}));
    CHECK(
        identity({std::string("a1:"), std::string("b")}) !=
        identity({std::string("a"), std::string("1:b")})
    );
    CHECK(
        identity({std::int64_t{1}, std::int64_t{23}}) !=
        identity({std::int64_t{12}, std::int64_t{3}})
    );
}

TEST_CASE("names of namespaces never meet") {
    const auto what = tenant_plan();
    CHECK(namespace_of(what, std::string("a-b.9")) == "org-a-b.9");
    CHECK(namespace_of(what, std::string("a b")) == "org-a_20b");
    CHECK(namespace_of(what, std::string("a_20b")) == "org-a__20b");
    CHECK(namespace_of(what, std::string("\xc3\xa9/")) == "org-_c3_a9_2f");
    CHECK(namespace_of(what, value{}) == "org-NULL");
}

TEST_CASE("keys come back from their texts") {
    const std::vector<column> columns{
        {"a", value_kind::integer, "bigint"},
        {"b", value_kind::text, "text"}};
    const key made{std::int64_t{-9223372036854775807 - 1}, std::string("x,y")};
    CHECK(to_text(made) == "(-9223372036854775808,x,y)");
    CHECK(key_of({"-9223372036854775808", "x,y"}, columns) == made);
    CHECK(key_of({"1x", "y"}, columns) == std::nullopt);
    CHECK(key_of({"1"}, columns) == std::nullopt);
}

TEST_SUITE_END();

}  // namespace weir::migration
