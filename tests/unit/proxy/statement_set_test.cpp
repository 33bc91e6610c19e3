#include "proxy/upstream/statement_set.hpp"

#include <doctest/doctest.h>

namespace weir::proxy::test {

using upstream::statement_set;

namespace {

statement_ptr make(std::uint64_t id) {
    auto made = std::make_shared<statement>();
    made->id = id;
    return made;
}

}  // namespace

TEST_SUITE_BEGIN("proxy.statement_set");

TEST_CASE("a server has what was added until it is removed") {
    statement_set held(10);
    CHECK(held.use(1) == nullptr);
    const auto one = make(1);
    held.add(one);
    CHECK(held.use(1) != nullptr);
    CHECK(held.use(2) == nullptr);
    CHECK(held.size() == 1);
    CHECK(held.remove(2) == nullptr);
    CHECK(held.remove(1) == one);
    CHECK(held.use(1) == nullptr);
    CHECK(held.remove(1) == nullptr);
    CHECK(held.size() == 0);
}

TEST_CASE("nothing is evicted while there is room") {
    statement_set held(3);
    CHECK(held.evict() == nullptr);
    held.add(make(1));
    held.add(make(2));
    CHECK(held.evict() == nullptr);
    held.add(make(3));
    CHECK(held.evict()->id == 1);
    CHECK(held.size() == 2);
    CHECK(held.evict() == nullptr);
}

TEST_CASE("the one that was used longest ago goes first") {
    statement_set held(3);
    for (const std::uint64_t id : {1U, 2U, 3U}) {
        held.add(make(id));
    }
    CHECK(held.use(1) != nullptr);
    CHECK(held.evict()->id == 2);
    held.add(make(4));
    CHECK(held.use(3) != nullptr);
    CHECK(held.evict()->id == 1);
    held.add(make(5));
    CHECK(held.evict()->id == 4);
    CHECK(held.use(3) != nullptr);
    CHECK(held.use(5) != nullptr);
    CHECK(held.use(1) == nullptr);
    CHECK(held.use(2) == nullptr);
    CHECK(held.use(4) == nullptr);
}

TEST_CASE("removal in the middle keeps the order of the others") {
    statement_set held(3);
    for (const std::uint64_t id : {1U, 2U, 3U}) {
        held.add(make(id));
    }
    CHECK(held.remove(2)->id == 2);
    held.add(make(4));
    CHECK(held.evict()->id == 1);
    held.add(make(5));
    CHECK(held.evict()->id == 3);
}

TEST_CASE("a Close that did not happen puts the statement back as the newest") {
    statement_set held(2);
    held.add(make(1));
    held.add(make(2));
    auto closed = held.evict();
    CHECK(closed->id == 1);
    held.add(std::move(closed));
    CHECK(held.size() == 2);
    CHECK(held.evict()->id == 2);
}

TEST_CASE("what is added twice is held once") {
    statement_set held(2);
    held.add(make(1));
    held.add(make(2));
    held.add(make(1));
    CHECK(held.size() == 2);
    CHECK(held.evict()->id == 2);
    CHECK(held.remove(1)->id == 1);
    CHECK(held.size() == 0);
    CHECK(held.use(1) == nullptr);
}

TEST_CASE("a copy is good up to its Parse or the last use that was accepted") {
    statement_set held(3);
    held.add(make(1), 5);
    CHECK(held.use(1)->good_at == 5);
    held.accepted(1, 9);
    CHECK(held.use(1)->good_at == 9);
    held.accepted(1, 7);  // an earlier one, answered later
    CHECK(held.use(1)->good_at == 9);
    held.accepted(2, 10);
    CHECK(held.use(2) == nullptr);
    held.add(make(1), 12);
    CHECK(held.use(1)->good_at == 12);
}

TEST_CASE("what a copy was described as is forgotten with it") {
    statement_set held(3);
    held.add(make(1), 5);
    CHECK(held.use(1)->result == 0);
    held.described(1, 77);
    held.described(2, 78);
    CHECK(held.use(1)->result == 77);
    held.add(make(1), 6);
    CHECK(held.use(1)->result == 0);
}

TEST_CASE("all are given with the newest first") {
    statement_set held(3);
    CHECK(held.all().empty());
    const auto one = make(1);
    const auto two = make(2);
    held.add(one);
    held.add(two);
    CHECK(held.all() == std::vector<statement_ptr>{two, one});
    CHECK(held.use(1) != nullptr);
    CHECK(held.all() == std::vector<statement_ptr>{one, two});
}

TEST_CASE("a set of one holds the last") {
    statement_set held(1);
    held.add(make(1));
    CHECK(held.evict()->id == 1);
    held.add(make(2));
    CHECK(held.use(2) != nullptr);
    held.clear();
    CHECK(held.size() == 0);
    CHECK(held.use(2) == nullptr);
    CHECK(held.evict() == nullptr);
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
