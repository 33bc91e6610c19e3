#include "migration/store/ids.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <set>
#include <string>

namespace weir::migration::store {
namespace {

const column number{"id", value_kind::integer, "bigint"};
const column text{"name", value_kind::text, "text"};
const column uid{"uid", value_kind::uuid, "uuid"};
const column real{"r", value_kind::real, "double precision"};
constexpr id_rules turbopuffer_rules{.numbers = true, .longest_text = 64};
constexpr id_rules qdrant_rules{.numbers = true, .longest_text = 0};
constexpr id_rules text_rules{.numbers = false, .longest_text = 128};
const std::string some_uuid = "769c134d-07b8-4225-954a-b6cc5ffc320c";

TEST_CASE("one integer is the id itself and negative ones wrap") {
    const id_map ids({number}, turbopuffer_rules);
    CHECK(ids.kind() == id_kind::number);
    CHECK(!ids.stores_keys());
    const std::vector<std::pair<std::int64_t, std::uint64_t>> pairs{
        {0, 0},
        {17, 17},
        {std::numeric_limits<std::int64_t>::max(), 9223372036854775807U},
        {-1, 18446744073709551615U},
        {std::numeric_limits<std::int64_t>::min(), 9223372036854775808U}};
    for (const auto& [key_number, id] : pairs) {
        CHECK(ids.id_of({key_number}) == document_id(id));
        CHECK(ids.key_of(id, "") == key{key_number});
    }
}

TEST_CASE("where a store has no numbers an integer is its digits") {
    const id_map ids({number}, text_rules);
    CHECK(ids.kind() == id_kind::text);
    CHECK(ids.id_of({std::int64_t{-5}}) == document_id("-5"));
    CHECK(ids.key_of("-5", "") == key{std::int64_t{-5}});
    CHECK(!ids.key_of("5x", ""));
    CHECK(!ids.key_of("", ""));
}

TEST_CASE("a uuid is the id") {
    const id_map ids({uid}, qdrant_rules);
    CHECK(ids.kind() == id_kind::uuid);
    CHECK(!ids.stores_keys());
    CHECK(ids.id_of({some_uuid}) == document_id(some_uuid));
    CHECK(ids.key_of(some_uuid, "") == key{some_uuid});
}

TEST_CASE("short texts are ids and others are digests that cannot be mistaken for them") {
    const id_map ids({text}, turbopuffer_rules);
    CHECK(ids.kind() == id_kind::text);
    CHECK(ids.stores_keys());
    CHECK(ids.id_of({"a"}) == document_id("a"));
    CHECK(ids.key_of("a", "") == key{"a"});
    CHECK(ids.id_of({std::string(64, 'k')}) == document_id(std::string(64, 'k')));
    const auto long_id = std::get<std::string>(ids.id_of({std::string(65, 'k')}));
    CHECK(long_id.size() == 37);
    CHECK(long_id.front() == '~');
    // A text that looks like that digest has another id.
    CHECK(ids.id_of({long_id}) != document_id(long_id));
    CHECK(std::get<std::string>(ids.id_of({""})).size() == 37);
    CHECK(!ids.key_of(long_id, ""));
    CHECK(ids.key_of(long_id, canonical_text({std::string(65, 'k')})) == key{std::string(65, 'k')});
}

TEST_CASE("keys of several columns are digests of their canonical text") {
    const id_map ids({number, text}, turbopuffer_rules);
    CHECK(ids.kind() == id_kind::uuid);
    CHECK(ids.stores_keys());
    const key what{std::int64_t{-17}, "a\"b"};
    CHECK(canonical_text(what) == R"([-17,"a\"b"])");
    const auto id = std::get<std::string>(ids.id_of(what));
    CHECK(id == uuid_of(R"([-17,"a\"b"])"));
    CHECK(id.size() == 36);
    CHECK(id[14] == '5');
    CHECK(ids.key_of(id, canonical_text(what)) == what);
    CHECK(!ids.key_of(id, ""));
    CHECK(!ids.key_of(id, "[1]"));
    CHECK(!ids.key_of(id, "[1,2]"));
    CHECK(!ids.key_of(id, "no json"));
    CHECK(ids.id_of({std::int64_t{1}, "2"}) != ids.id_of({std::int64_t{12}, ""}));
}

// Computed with Python's uuid.uuid5 in the namespace of ids.cpp.
TEST_CASE("digests are UUIDs of version 5 in one namespace for ever") {
    CHECK(uuid_of("") == "caa5ab38-f9ad-5ec3-a952-58788f5f45fb");
    CHECK(uuid_of("[1,\"a\"]") == "ece41ac4-2e1d-555b-906d-add7d7219d35");
}

TEST_CASE("keys of every kind come back from their canonical text") {
    const std::vector<column> columns{
        {"b", value_kind::boolean, "boolean"},
        number,
        real,
        {"n", value_kind::numeric, "numeric"},
        text,
        uid,
        {"t", value_kind::timestamp, "timestamp"},
        {"j", value_kind::json, "jsonb"}};
    const key what{
        true,
        std::numeric_limits<std::int64_t>::min(),
        0.1,
        "1.50",
        "\xC3\xBC\n",
        some_uuid,
        std::numeric_limits<std::int64_t>::max(),
        "{\"a\": 1}"};
    CHECK(key_from_text(canonical_text(what), columns) == what);
    for (const double each :
         {std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity(),
          1e300}) {
        CHECK(key_from_text(canonical_text({each}), {real}) == key{each});
    }
    CHECK(canonical_text({-0.0}) == canonical_text({0.0}));
}

TEST_CASE("many keys have as many ids") {
    const id_map ids({number, text}, qdrant_rules);
    std::set<document_id> seen;
    for (std::int64_t i = 0; i < 1000; ++i) {
        seen.insert(ids.id_of({i, std::to_string(i * 7)}));
        seen.insert(ids.id_of({-i - 1, std::to_string(i * 7)}));
    }
    CHECK(seen.size() == 2000);
}

}  // namespace
}  // namespace weir::migration::store
