// The contract of stores: every kind of value, key and vector comes back as it went in. To add a
// store, see candidates.hpp.
#include "tests/stores/contract.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace weir::stores {
namespace {

using numbers = std::numeric_limits<std::int64_t>;
using reals = std::numeric_limits<double>;

struct sample {
    value_kind kind;
    std::string type;
    std::vector<value> values;
};

std::vector<sample> numbers_and_times() {
    return {
        {value_kind::boolean, "boolean", {true, false}},
        {value_kind::integer,
         "bigint",
         {std::int64_t{0},
          std::int64_t{-1},
          numbers::max(),
          numbers::min(),
          std::int64_t{9007199254740993},
          std::int64_t{-9007199254740993}}},
        {value_kind::real,
         "double precision",
         {0.0,
          5.0,
          -1.5,
          0.1,
          1.0 / 3,
          reals::max(),
          reals::lowest(),
          reals::min(),
          reals::denorm_min(),
          reals::infinity(),
          -reals::infinity(),
          1e22,
          123456789012345680.0}},
        {value_kind::timestamp,
         "timestamp with time zone",
         {std::int64_t{0},
          std::int64_t{1'796'000'000'123'456},
          std::int64_t{-210866803200000000},
          numbers::max(),
          numbers::min()}},
        {value_kind::date, "date", {std::int64_t{86'400'000'000}, numbers::max(), numbers::min()}}};
}

std::vector<sample> texts() {
    std::string controls;
    for (char byte = 1; byte < 32; ++byte) {
        controls += byte;
    }
    const std::string uuid = "769c134d-07b8-4225-954a-b6cc5ffc320c";
    return {
        {value_kind::numeric,
         "numeric",
         {"0",
          "1.50",
          "-3.000000000000000000000000000001",
          "123456789012345678901234567890.123456789",
          "NaN",
          "Infinity",
          "-Infinity",
          std::string(400, '9')}},
        {value_kind::text,
         "text",
         {"plain",
          "",
          " ",
          "null",
          "a \"quoted\" \\ back/slash 'text'",
          "größer 漢字 \xF0\x9F\x90\xA1 \xE2\x80\xA8 line",
          controls,
          "\x7F{\"$ref_new\":1}",
          std::string(4095, 'x') + "\xC3\xA9\xC3\xA9 end",
          std::string(20'000, 'y')}},
        {value_kind::uuid, "uuid", {uuid, "00000000-0000-0000-0000-000000000000"}},
        {value_kind::json,
         "jsonb",
         {R"({"a": [1, 2.50, null, "x"], "b": {"c": true}})", "null", "[]", "\"text\"", "12"}}};
}

std::vector<sample> samples() {
    auto all = numbers_and_times();
    const auto more = texts();
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

TEST_CASE_TEMPLATE("values of every kind come back as they were", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    for (const auto& kind : samples()) {
        CAPTURE(kind.type);
        auto layout = table();
        layout.attributes = {{"a", kind.kind, kind.type}, {"b", kind.kind, kind.type}};
        const auto name = fresh("kind");
        const auto at_store = candidate.make(layout);
        must(at_store->ensure(name));
        std::vector<document> rows;
        for (const auto& each : kind.values) {
            auto made = row(static_cast<std::int64_t>(rows.size()), at(10));
            made.attributes = {each, {}};
            rows.push_back(made);
        }
        must(at_store->upsert(name, rows));
        for (const auto& each : rows) {
            check_same(each, one(*at_store, name, each.key), at_store->able());
        }
        if (!at_store->able().patches) {
            continue;
        }
        // The other way round by a patch: every value becomes NULL and every NULL a value.
        for (auto& each : rows) {
            std::swap(each.attributes[0], each.attributes[1]);
            each.version = at(20);
            auto patch = each;
            patch.embedding.clear();
            CHECK(must(at_store->patch(name, std::vector{patch})).applied == 1);
        }
        for (const auto& each : rows) {
            check_same(each, one(*at_store, name, each.key), at_store->able());
        }
    }
}

TEST_CASE_TEMPLATE("NaN comes back as NaN", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("nan");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    auto written = row(1, at(10));
    written.attributes[2] = reals::quiet_NaN();
    must(at_store->upsert(name, std::vector{written}));
    const auto found = one(*at_store, name, key_of(1));
    REQUIRE(found.attributes.size() == 5);
    REQUIRE(std::holds_alternative<double>(found.attributes[2]));
    CHECK(std::isnan(std::get<double>(found.attributes[2])));
}

struct key_sample {
    std::string name;
    std::vector<migration::column> columns;
    std::vector<key> keys;
};

std::vector<key_sample> key_samples() {
    const migration::column number{"id", value_kind::integer, "bigint"};
    const migration::column text{"name", value_kind::text, "text"};
    const migration::column uuid{"uid", value_kind::uuid, "uuid"};
    const migration::column real{"r", value_kind::real, "double precision"};
    const migration::column day{"day", value_kind::date, "date"};
    const migration::column amount{"n", value_kind::numeric, "numeric"};
    const migration::column yes{"yes", value_kind::boolean, "boolean"};
    const std::string first = "769c134d-07b8-4225-954a-b6cc5ffc320c";
    const std::string second = "769c134d-07b8-4225-954a-b6cc5ffc320d";
    return {
        {"integer",
         {number},
         {{std::int64_t{0}},
          {std::int64_t{17}},
          {numbers::max()},
          {std::int64_t{-1}},
          {numbers::min()},
          {std::int64_t{9007199254740993}}}},
        {"uuid", {uuid}, {{first}, {second}}},
        {"text",
         {text},
         {{"a"},
          {"A"},
          {""},
          {"17"},
          {"a b\"c\\d\n"},
          {"漢字"},
          {first},
          {std::string(64, 'k')},
          {std::string(65, 'k')},
          {std::string(3000, 'k')},
          {"~"},
          {"~" + first},
          {"/"}}},
        {"composite",
         {number, text, uuid},
         {{std::int64_t{1}, "2", first},
          {std::int64_t{12}, "", first},
          {std::int64_t{1}, "2\",\"", second},
          {numbers::min(), "x", first}}},
        {"real", {real}, {{0.5}, {-1e300}, {reals::infinity()}}},
        {"date", {day}, {{std::int64_t{0}}, {numbers::max()}}},
        {"numeric", {amount}, {{"2"}, {"1.0"}, {"NaN"}}},
        {"boolean and real", {yes, real}, {{true, 0.1}, {false, 0.1}}}};
}

TEST_CASE_TEMPLATE("keys of every kind find their documents", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    for (const auto& sample : key_samples()) {
        CAPTURE(sample.name);
        auto layout = table();
        layout.key = sample.columns;
        const auto name = fresh("keys");
        const auto at_store = candidate.make(layout);
        must(at_store->ensure(name));
        std::vector<document> rows;
        for (const auto& each : sample.keys) {
            rows.push_back(row(static_cast<std::int64_t>(rows.size()), at(10)));
            rows.back().key = each;
        }
        must(at_store->upsert(name, rows));
        CHECK(must(at_store->count(name)) == rows.size());
        CHECK(must(at_store->fetch(name, sample.keys, {})).size() == rows.size());
        for (const auto& each : rows) {
            check_same(each, one(*at_store, name, each.key), at_store->able());
        }
        const auto hits = must(at_store->search(name, nearest(rows[0].embedding, 1, true)));
        REQUIRE(hits.size() == 1);
        CHECK(hits[0].key == rows[0].key);
        auto patch = rows[1];
        patch.embedding.clear();
        patch.version = at(11);
        if (at_store->able().patches) {
            CHECK(must(at_store->patch(name, std::vector{patch})).absent.empty());
        }
        must(at_store->remove(name, std::vector<removal>{{rows[0].key, at(12)}}));
        CHECK(one(*at_store, name, rows[0].key).key.empty());
        CHECK(must(at_store->scan(name, "", 100, {})).documents.size() == rows.size() - 1);
    }
}

TEST_CASE_TEMPLATE("vectors of 128 and 1536 numbers", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    for (const std::size_t dimensions : {128U, 1536U}) {
        for (const bool half : {false, true}) {
            CAPTURE(dimensions);
            CAPTURE(half);
            auto layout = table(dimensions);
            layout.half = half;
            const auto name = fresh("wide");
            const auto at_store = candidate.make(layout);
            must(at_store->ensure(name));
            std::vector<document> rows;
            for (std::int64_t id = 0; id < 50; ++id) {
                rows.push_back(row(id, at(10), dimensions));
            }
            must(at_store->upsert(name, rows));
            for (const auto& each : rows) {
                check_same(each, one(*at_store, name, each.key), at_store->able(), half);
            }
            const auto hits = must(at_store->search(name, nearest(rows[7].embedding, 1)));
            REQUIRE(hits.size() == 1);
            CHECK(hits[0].key == key_of(7));
        }
    }
}

TEST_CASE_TEMPLATE("single precision numbers keep every bit", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("bits");
    const auto at_store = candidate.make(table(8));
    must(at_store->ensure(name));
    auto written = row(1, at(10), 8);
    written.embedding =
        {1e-45F, 1.17549435e-38F, 3.4e18F, 0.1F, -0.333333343F, 16777217.0F, -1e-20F, 1.00000012F};
    must(at_store->upsert(name, std::vector{written}));
    CHECK(one(*at_store, name, key_of(1)).embedding == written.embedding);
}

TEST_CASE_TEMPLATE("odd names of columns", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    auto layout = table();
    layout.attributes.clear();
    const std::vector<std::string> names{
        "id",
        "vector",
        "$dist",
        "pgweir_version",
        "pgweir_part",
        "a.b",
        "a[0]",
        "größe",
        "with space",
        "quo\"te",
        "back\\slash",
        "embedding",
        "document",
        "A",
        std::string(63, 'n')};
    for (const auto& each : names) {
        layout.attributes.push_back({each, value_kind::integer, "integer"});
    }
    const auto name = fresh("names");
    const auto at_store = candidate.make(layout);
    must(at_store->ensure(name));
    auto written = row(1, at(10));
    written.attributes.clear();
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(names.size()); ++i) {
        written.attributes.emplace_back(i + 100);
    }
    must(at_store->upsert(name, std::vector{written}));
    check_same(written, one(*at_store, name, key_of(1)), at_store->able());
    for (std::size_t i = 0; i < names.size(); ++i) {
        CAPTURE(names[i]);
        auto what = nearest(written.embedding);
        what.filter = {{i, store::condition::test::equal, written.attributes[i]}};
        CHECK(must(at_store->search(name, what)).size() == 1);
        what.filter = {{i, store::condition::test::equal, std::int64_t{1}}};
        CHECK(must(at_store->search(name, what)).empty());
    }
}

}  // namespace
}  // namespace weir::stores
