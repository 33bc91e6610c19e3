#include "proxy/client/unit.hpp"

#include <doctest/doctest.h>

namespace weir::proxy::test {

using client::known_text;
using client::unit;

namespace {

known_text without_traits(std::uint64_t shape) {
    known_text made;
    made.shape.hi = 1;
    made.shape.lo = shape;
    return made;
}

known_text text(std::uint64_t shape, routing::primary_reason reason) {
    auto traits = std::make_shared<routing::traits>();
    traits->reason = reason;
    auto made = without_traits(shape);
    made.traits = std::move(traits);
    return made;
}

known_text read(std::uint64_t shape) {
    return text(shape, routing::primary_reason::none);
}

known_text write(std::uint64_t shape) {
    return text(shape, routing::primary_reason::writes);
}

}  // namespace

TEST_SUITE_BEGIN("proxy.unit");

TEST_CASE("nothing decides before something runs") {
    const unit one;
    CHECK(one.decisive == nullptr);
    CHECK_FALSE(one.several);
}

TEST_CASE("the first statement decides and the same again changes nothing") {
    unit one;
    one.runs(read(1));
    REQUIRE(one.decisive != nullptr);
    CHECK(one.decisive->shape.lo == 1);
    one.runs(read(1));
    one.runs(read(1));
    CHECK(one.decisive->shape.lo == 1);
    CHECK_FALSE(one.several);
}

TEST_CASE("two reads are several and the first one decides") {
    unit one;
    one.runs(read(1));
    one.runs(read(2));
    CHECK(one.several);
    CHECK(one.decisive->shape.lo == 1);
}

TEST_CASE("shapes differ in either half") {
    unit one;
    one.runs(read(1));
    auto other = read(1);
    other.shape.hi = 2;
    one.runs(other);
    CHECK(one.several);
}

TEST_CASE("a write decides wherever it stands") {
    unit first;
    first.runs(write(1));
    first.runs(read(2));
    CHECK(first.several);
    CHECK(first.decisive->shape.lo == 1);
    CHECK_FALSE(first.decisive->traits->replica_by_syntax());
    unit last;
    last.runs(read(1));
    last.runs(read(2));
    last.runs(write(3));
    CHECK(last.several);
    CHECK(last.decisive->shape.lo == 3);
    CHECK_FALSE(last.decisive->traits->replica_by_syntax());
}

TEST_CASE("a text without traits decides only when it is alone") {
    unit one;
    one.runs(without_traits(9));
    CHECK(one.decisive->shape.lo == 9);
    unit two;
    two.runs(read(1));
    two.runs(without_traits(9));
    CHECK(two.several);
    CHECK(two.decisive->shape.lo == 1);
}

TEST_CASE("a cleared unit is as new") {
    unit one;
    one.texts.push_back(read(1));
    one.named.emplace_back("a", 0);
    one.next_text = 1;
    one.scanned = 100;
    one.runs(read(1));
    one.runs(write(2));
    one.write = one.executes = one.needs_server = one.cut = true;
    one.known_parses = false;
    one.clear();
    CHECK(one.texts.empty());
    CHECK(one.named.empty());
    CHECK(one.known_statements.empty());
    CHECK(one.next_text == 0);
    CHECK(one.scanned == 0);
    CHECK(one.decisive == nullptr);
    CHECK_FALSE(one.several);
    CHECK_FALSE(one.write);
    CHECK_FALSE(one.executes);
    CHECK_FALSE(one.needs_server);
    CHECK_FALSE(one.cut);
    CHECK(one.known_parses);
    one.runs(read(3));
    CHECK(one.decisive->shape.lo == 3);
    CHECK_FALSE(one.several);
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
