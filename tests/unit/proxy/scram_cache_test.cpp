#include "proxy/scram_cache.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weir::proxy {
namespace {

TEST_SUITE_BEGIN("proxy.scram_cache");

TEST_CASE("cached keys are those that would be derived") {
    scram_cache cache;
    for (int round = 0; round < 2; ++round) {
        const auto found = cache.keys("pencil", "salt", 2);
        const auto derived = protocol::derive_keys("pencil", "salt", 2);
        REQUIRE(found.has_value());
        REQUIRE(derived.has_value());
        CHECK(*found == *derived);
    }
    CHECK(cache.size() == 1);
}

TEST_CASE("password and salt and count are told apart") {
    scram_cache cache;
    const auto first = cache.keys("ab", "c", 1);
    const auto moved = cache.keys("b", "ca", 1);
    const auto slower = cache.keys("ab", "c", 2);
    REQUIRE(first.has_value());
    REQUIRE(moved.has_value());
    REQUIRE(slower.has_value());
    CHECK(first->client_key != moved->client_key);
    CHECK(first->client_key != slower->client_key);
    CHECK(cache.size() == 3);
}

TEST_CASE("errors are passed on and not kept") {
    scram_cache cache;
    const auto none = cache.keys("ab", "c", 0);
    REQUIRE(none.has_error());
    CHECK(none.error() == protocol::errc::scram_iterations);
    CHECK(cache.size() == 0);
}

TEST_CASE("the cache does not grow past its limit") {
    scram_cache cache;
    for (std::size_t i = 0; i < scram_cache::limit + 3; ++i) {
        REQUIRE(cache.keys(std::to_string(i), "salt", 1).has_value());
    }
    CHECK(cache.size() == scram_cache::limit);
    const auto again = cache.keys("0", "salt", 1);
    REQUIRE(again.has_value());
    CHECK(*again == *protocol::derive_keys("0", "salt", 1));
    CHECK(cache.size() == scram_cache::limit);
}

TEST_SUITE_END();

}  // namespace
}  // namespace weir::proxy
