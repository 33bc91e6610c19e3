#include "proxy/client/statements.hpp"

#include <doctest/doctest.h>

namespace weir::proxy::test {

using client::statements;

namespace {

statement_ptr make(std::uint64_t id) {
    auto made = std::make_shared<statement>();
    made->id = id;
    return made;
}

std::shared_ptr<const routing::traits> some_traits() {
    return std::make_shared<const routing::traits>();
}

}  // namespace

TEST_SUITE_BEGIN("proxy.statements");

TEST_CASE("a name finds its statement until it is erased") {
    statements names;
    CHECK(names.find("a") == nullptr);
    const auto one = make(1);
    names.set("a", {one});
    REQUIRE(names.find("a") != nullptr);
    CHECK(names.find("a")->what == one);
    CHECK(names.find("A") == nullptr);
    CHECK(names.find("") == nullptr);
    CHECK(names.size() == 1);
    CHECK(names.erase("a").what == one);
    CHECK_FALSE(static_cast<bool>(names.erase("a")));
    CHECK(names.size() == 0);
}

TEST_CASE("a Close that did not happen is undone with what erase gave") {
    statements names;
    const auto one = make(1);
    names.set("a", {one});
    auto previous = names.erase("a");
    CHECK(names.find("a") == nullptr);
    names.set("a", std::move(previous));
    CHECK(names.find("a")->what == one);
}

TEST_CASE("a window of Close and Parse is undone newest first") {
    statements names;
    const auto old = make(1);
    names.set("a", {old});
    const auto previous = names.erase("a");  // Close a
    names.set("a", {make(2)});               // Parse a
    names.erase("a");                        // the Parse was skipped
    names.set("a", previous);                // and so was the Close
    CHECK(names.find("a")->what == old);
    CHECK(names.size() == 1);
}

TEST_CASE("two names may stand for one statement") {
    statements names;
    const auto one = make(1);
    names.set("a", {one});
    names.set("b", {one});
    CHECK(names.erase("a").what == one);
    CHECK(names.find("b")->what == one);
}

TEST_CASE("the unnamed statement is dropped by its version and keeps no large text") {
    statements names;
    CHECK(names.unnamed.version == 0);
    names.unnamed.version = 7;
    names.unnamed.text = "select 1";
    names.drop_unnamed();
    CHECK(names.unnamed.version == 0);
    names.unnamed.version = 8;
    names.unnamed.text.assign(100'000, 'x');
    names.drop_unnamed();
    CHECK(names.unnamed.text.capacity() < 4096);
}

TEST_CASE("portals are known from Bind to the end of their transaction") {
    statements names;
    CHECK(names.find_portal("p") == nullptr);
    names.bind("p").known.traits = some_traits();
    names.bind("q").settings.push_back({.name = "work_mem", .value = "1"});
    REQUIRE(names.find_portal("p") != nullptr);
    CHECK(names.find_portal("p")->known.traits != nullptr);
    REQUIRE(names.find_portal("q") != nullptr);
    CHECK(names.find_portal("q")->settings.size() == 1);
    names.transaction_ended();
    CHECK(names.find_portal("p") == nullptr);
    CHECK(names.find_portal("q") == nullptr);
}

TEST_CASE("the unnamed portal is unknown before its first Bind") {
    statements names;
    CHECK(names.find_portal("") == nullptr);
    auto& unnamed = names.bind("");
    CHECK(names.find_portal("") == nullptr);
    unnamed.known.traits = some_traits();
    CHECK(names.find_portal("") == &unnamed);
    CHECK(names.find_portal("p") == nullptr);
}

TEST_CASE("all names are taken at once and portals and the unnamed statement stay") {
    statements names;
    names.set("a", {make(1)});
    names.set("b", {make(2)});
    names.unnamed.version = 3;
    names.bind("p").known.traits = some_traits();
    const auto taken = names.take_names();
    CHECK(taken.size() == 2);
    CHECK(names.size() == 0);
    CHECK(names.find("a") == nullptr);
    CHECK(names.unnamed.version == 3);
    CHECK(names.find_portal("p") != nullptr);
}

TEST_CASE("names come back except those that were used again") {
    statements names;
    const auto a = make(1);
    const auto b = make(2);
    names.set("a", {a});
    names.set("b", {b});
    const auto taken = names.take_names();
    const auto again = make(3);
    names.set("b", {again});
    names.put_back(taken);
    CHECK(names.size() == 2);
    CHECK(names.find("a")->what == a);
    CHECK(names.find("b")->what == again);
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
