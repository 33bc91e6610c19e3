// The contract of stores: filters hold where SQL's do. A store may find too much where it has less
// precision than the source (numeric, values at the edge of double precision), never too little. To
// add a store, see candidates.hpp.
#include "tests/stores/contract.hpp"

#include <limits>
#include <optional>
#include <set>
#include <string>

namespace weir::stores {
namespace {

using test = store::condition::test;

// What SQL answers; NULL compared with anything is nothing.
bool holds(const value& left, test op, const value& right, value_kind kind) {
    if (op == test::is_null) {
        return is_null(left);
    }
    if (is_null(left) || is_null(right)) {
        return false;
    }
    const auto compare = [op](const auto& a, const auto& b) {
        switch (op) {
        case test::equal: return a == b;
        case test::less: return a < b;
        case test::less_equal: return a <= b;
        case test::greater: return a > b;
        case test::greater_equal: return a >= b;
        case test::is_null: break;
        }
        return false;
    };
    if (kind == value_kind::numeric) {
        return compare(
            std::stod(std::get<std::string>(left)),
            std::stod(std::get<std::string>(right))
        );
    }
    return compare(left, right);
}

struct kind_sample {
    value_kind kind;
    std::string type;
    std::vector<value> values;
    bool ordered = true;
};

std::vector<kind_sample> kinds(const candidate& which) {
    return {
        {value_kind::integer,
         "bigint",
         {std::int64_t{-7}, std::int64_t{0}, std::int64_t{5}, std::int64_t{6}}},
        {value_kind::real, "double precision", {-0.5, 0.1, 0.30000000000000004, 0.3, 7.0}},
        {value_kind::numeric, "numeric", {"-0.5", "1.25", "7", "8.5"}},
        {value_kind::text, "text", {"", "B", "a", "a\"b", "ab", "é"}, which.orders_text},
        {value_kind::timestamp,
         "timestamp with time zone",
         {std::int64_t{0},
          std::int64_t{1'796'000'000'123'456},
          std::int64_t{1'796'000'000'123'457}}},
        {value_kind::date, "date", {std::int64_t{0}, std::int64_t{86'400'000'000}}},
        {value_kind::boolean, "boolean", {false, true}, false},
        {value_kind::uuid,
         "uuid",
         {"769c134d-07b8-4225-954a-b6cc5ffc320c", "869c134d-07b8-4225-954a-b6cc5ffc320c"},
         which.orders_uuid}};
}

std::set<std::int64_t> found(store::store& at_store, const std::string& name, store::query what) {
    const auto wanted = embedding_of(1);
    what.embedding = wanted;
    what.limit = 100;
    std::set<std::int64_t> ids;
    for (const auto& each : must(at_store.search(name, what))) {
        ids.insert(std::get<std::int64_t>(each.key.at(0)));
    }
    return ids;
}

TEST_CASE_TEMPLATE("filters select what SQL selects", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    for (const auto& kind : kinds(candidate)) {
        auto layout = table();
        layout.attributes = {{"a", kind.kind, kind.type}};
        const auto name = fresh("filter");
        const auto at_store = candidate.make(layout);
        must(at_store->ensure(name));
        std::vector<document> rows;
        auto values = kind.values;
        values.emplace_back();  // NULL
        for (const auto& each : values) {
            rows.push_back(row(static_cast<std::int64_t>(rows.size()), at(10)));
            rows.back().attributes = {each};
        }
        must(at_store->upsert(name, rows));
        for (const auto op :
             {test::equal,
              test::less,
              test::less_equal,
              test::greater,
              test::greater_equal,
              test::is_null}) {
            if (!kind.ordered && op != test::equal && op != test::is_null) {
                continue;
            }
            for (const auto& operand : values) {
                for (const bool exact : {false, at_store->able().exact_search}) {
                    CAPTURE(kind.type);
                    CAPTURE(static_cast<int>(op));
                    CAPTURE(exact);
                    std::set<std::int64_t> right;
                    for (const auto& each : rows) {
                        if (holds(each.attributes[0], op, operand, kind.kind)) {
                            right.insert(std::get<std::int64_t>(each.key[0]));
                        }
                    }
                    store::query what;
                    what.filter = {{0, op, operand}};
                    what.exact = exact;
                    const auto got = found(*at_store, name, what);
                    if (kind.kind == value_kind::numeric) {
                        CHECK(std::includes(got.begin(), got.end(), right.begin(), right.end()));
                    } else {
                        CHECK(got == right);
                    }
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("filters at the edges find no less than SQL", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    using reals = std::numeric_limits<double>;
    constexpr std::int64_t big = std::int64_t{1} << 53;
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    const std::vector<kind_sample> edges{
        {value_kind::integer, "bigint", {big - 1, big, big + 1, big + 2, most - 1, most, least}},
        {value_kind::real,
         "double precision",
         {-reals::infinity(), reals::lowest(), 0.0, reals::max(), reals::infinity()}},
        {value_kind::numeric,
         "numeric",
         {"0.1",
          "0.10000000000000000001",
          "0.1000000000000000055511151231257827",
          "9007199254740993"}},
        {value_kind::text,
         "text",
         {std::string(5000, 'a'), std::string(5000, 'a') + "b", std::string(4096, 'a')},
         candidate.orders_text}};
    for (const auto& kind : edges) {
        auto layout = table();
        layout.attributes = {{"a", kind.kind, kind.type}};
        const auto name = fresh("edge");
        const auto at_store = candidate.make(layout);
        must(at_store->ensure(name));
        std::vector<document> rows;
        for (const auto& each : kind.values) {
            rows.push_back(row(static_cast<std::int64_t>(rows.size()), at(10)));
            rows.back().attributes = {each};
        }
        must(at_store->upsert(name, rows));
        // The values are in order, so positions compare as the values do (but for `least`).
        for (const auto op :
             {test::equal, test::less, test::less_equal, test::greater, test::greater_equal}) {
            for (const auto& operand : kind.values) {
                if (!kind.ordered && op != test::equal) {
                    continue;
                }
                CAPTURE(kind.type);
                CAPTURE(static_cast<int>(op));
                std::set<std::int64_t> right;
                for (const auto& each : rows) {
                    const bool exact_text = kind.kind == value_kind::numeric;
                    if (exact_text ? op == test::equal && each.attributes[0] == operand
                                   : holds(each.attributes[0], op, operand, kind.kind)) {
                        right.insert(std::get<std::int64_t>(each.key[0]));
                    }
                }
                store::query what;
                what.filter = {{0, op, operand}};
                const auto got = found(*at_store, name, what);
                CHECK(std::includes(got.begin(), got.end(), right.begin(), right.end()));
            }
        }
    }
}

TEST_CASE_TEMPLATE("all conditions of a filter must hold", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("and");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    std::vector<document> rows;
    for (std::int64_t id = 0; id < 30; ++id) {
        rows.push_back(row(id, at(10)));
    }
    rows[4].attributes[0] = value{};
    must(at_store->upsert(name, rows));
    store::query what;
    what.filter = {
        {0, test::equal, std::int64_t{1}},
        {2, test::greater_equal, 1.0},
        {2, test::less, 5.0},
        {4, test::equal, true}};
    // id % 3 = 1 and 4 <= id < 20 and even, without 4, whose tenant is NULL.
    CHECK(found(*at_store, name, what) == std::set<std::int64_t>{10, 16});
    what.filter = {{0, test::is_null, {}}, {4, test::equal, true}};
    CHECK(found(*at_store, name, what) == std::set<std::int64_t>{4});
    what.filter = {{0, test::equal, {}}};
    CHECK(found(*at_store, name, what).empty());
}

TEST_CASE_TEMPLATE("the nearest of few are found among many others", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("few");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    std::vector<document> rows;
    for (std::int64_t id = 0; id < 600; ++id) {
        rows.push_back(row(id, at(10)));
        rows.back().attributes[0] = std::int64_t{id % 200 == 0 ? 1 : 2};
    }
    must(at_store->upsert(name, rows));
    store::query what;
    what.filter = {{0, test::equal, std::int64_t{1}}};
    CHECK(found(*at_store, name, what) == std::set<std::int64_t>{0, 200, 400});
}

TEST_CASE_TEMPLATE("a filter on json", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    auto layout = table();
    layout.attributes = {{"j", value_kind::json, "jsonb"}};
    const auto name = fresh("json");
    const auto at_store = candidate.make(layout);
    must(at_store->ensure(name));
    auto with = row(1, at(10));
    with.attributes = {R"({"a": 1})"};
    auto without = row(2, at(10));
    without.attributes = {value{}};
    must(at_store->upsert(name, std::vector{with, without}));
    const auto wanted = embedding_of(1);
    auto what = nearest(wanted);
    what.filter = {{0, test::is_null, {}}};
    if (candidate.filters_json) {
        CHECK(ids_of(must(at_store->search(name, what))) == std::vector<std::int64_t>{2});
    } else {
        CHECK(fault_of(at_store->search(name, what)) == fault::refused);
    }
}

}  // namespace
}  // namespace weir::stores
