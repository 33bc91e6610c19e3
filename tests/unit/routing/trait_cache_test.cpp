#include "routing/trait_cache.hpp"

#include "routing/sql_parser.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weir::routing {

namespace {

traits read_of(std::string table) {
    traits value;
    value.kind = statement_kind::read;
    value.reason = primary_reason::none;
    value.relations.push_back({"", std::move(table)});
    return value;
}

shape shape_of(int n) {
    return scan("SELECT * FROM t" + std::to_string(n));
}

void add(trait_cache& cache, int n) {
    cache.insert(shape_of(n), read_of("t"));
}

bool holds(trait_cache& cache, int n) {
    return cache.find(shape_of(n)) != nullptr;
}

std::size_t bytes_of_one() {
    trait_cache cache(1'000'000);
    add(cache, 1);
    return cache.bytes();
}

}  // namespace

TEST_SUITE_BEGIN("routing.trait_cache");

TEST_CASE("What was put in is found by every text of the shape") {
    trait_cache cache(100'000);
    CHECK(cache.find(scan("SELECT * FROM t WHERE a = 1")) == nullptr);
    const auto held = cache.insert(scan("SELECT * FROM t WHERE a = 1"), read_of("t"));
    CHECK(cache.find(scan("select * from t where a = 2")) == held);
    CHECK(cache.find(scan("select * from u where a = 2")) == nullptr);
    CHECK(held->relations[0].name == "t");
    CHECK(cache.hits() == 1);
    CHECK(cache.misses() == 2);
    CHECK(cache.size() == 1);
}

TEST_CASE("A shape with the same hash but another guard is a miss and takes the place") {
    trait_cache cache(100'000);
    auto key = shape_of(1);
    cache.insert(key, read_of("right"));
    key.guard ^= 1;
    CHECK(cache.find(key) == nullptr);
    cache.insert(key, read_of("other"));
    CHECK(cache.find(key)->relations[0].name == "other");
    CHECK(cache.find(shape_of(1)) == nullptr);
    CHECK(cache.size() == 1);
}

TEST_CASE("Bytes never pass the limit and the oldest goes first") {
    const auto one = bytes_of_one();
    trait_cache cache(4 * one);
    for (int n = 1; n <= 6; ++n) {
        add(cache, n);
        CHECK(cache.bytes() <= 4 * one);
    }
    CHECK(cache.size() == 4);
    CHECK(cache.bytes() == 4 * one);
    CHECK_FALSE(holds(cache, 1));
    CHECK_FALSE(holds(cache, 2));
    CHECK(holds(cache, 3));
    CHECK(holds(cache, 6));
}

TEST_CASE("A flood of texts used once does not drive out those in use") {
    const auto one = bytes_of_one();
    trait_cache cache(10 * one);
    for (int n = 1; n <= 5; ++n) {
        add(cache, n);
        CHECK(holds(cache, n));
    }
    for (int n = 100; n < 1'100; ++n) {
        add(cache, n);
    }
    for (int n = 1; n <= 5; ++n) {
        CHECK(holds(cache, n));
    }
    CHECK(cache.size() == 10);
}

TEST_CASE("What is no longer used gives way in the end") {
    const auto one = bytes_of_one();
    trait_cache cache(10 * one);
    for (int n = 1; n <= 8; ++n) {
        add(cache, n);
        CHECK(holds(cache, n));
    }
    // Another working set, larger than what is left of the proven segment.
    for (int n = 101; n <= 108; ++n) {
        add(cache, n);
        CHECK(holds(cache, n));
    }
    for (int n = 101; n <= 108; ++n) {
        CHECK(holds(cache, n));
    }
    CHECK(cache.size() == 10);
    CHECK_FALSE(holds(cache, 1));
}

TEST_CASE("Traits held by somebody outlive their entry") {
    const auto one = bytes_of_one();
    trait_cache cache(one);
    const auto held = cache.insert(shape_of(1), read_of("t"));
    add(cache, 2);
    CHECK(cache.size() == 1);
    CHECK_FALSE(holds(cache, 1));
    CHECK(held->relations[0].name == "t");
}

TEST_CASE("Texts that were not parsed or have no end are not kept") {
    trait_cache cache(100'000);
    const auto refused = cache.insert(scan("NO SQL"), parse("NO SQL").value);
    CHECK(refused->kind == statement_kind::unparsed);
    CHECK(cache.insert(scan("SELECT 'a"), read_of("t")) != nullptr);
    CHECK(cache.size() == 0);
    CHECK(cache.bytes() == 0);
}

TEST_CASE("Traits larger than the cache are handed back but not kept") {
    trait_cache cache(1'000);
    auto large = read_of(std::string(2'000, 'x'));
    CHECK(cache.insert(shape_of(1), std::move(large))->relations[0].name.size() == 2'000);
    CHECK(cache.size() == 0);
}

TEST_CASE("A new limit evicts and clearing leaves nothing") {
    const auto one = bytes_of_one();
    trait_cache cache(10 * one);
    for (int n = 1; n <= 10; ++n) {
        add(cache, n);
    }
    CHECK(holds(cache, 2));
    cache.limit(2 * one);
    CHECK(cache.size() == 2);
    CHECK(holds(cache, 2));
    CHECK(holds(cache, 10));
    cache.clear();
    CHECK(cache.size() == 0);
    CHECK(cache.bytes() == 0);
    CHECK_FALSE(holds(cache, 2));
    cache.limit(0);
    CHECK(cache.insert(shape_of(1), read_of("t")) != nullptr);
    CHECK(cache.size() == 0);
}

TEST_CASE("Longer names take more memory") {
    CHECK(memory_of(read_of(std::string(100, 'x'))) >= memory_of(read_of("x")) + 100);
}

TEST_SUITE_END();

}  // namespace weir::routing
