#include "proxy/statement.hpp"

#include <doctest/doctest.h>

namespace weir::proxy::test {

using namespace std::string_view_literals;

namespace {

constexpr std::size_t plenty = 1U << 20;
constexpr auto int4 = "\0\0\0\x17"sv;
constexpr auto text = "\0\0\0\x19"sv;

statement_ptr add(statement_registry& registry, const statement_registry::request& wanted) {
    routing::shape shape;
    shape.hi = 1;
    shape.lo = 2;
    return registry.add(wanted, shape, std::make_shared<const routing::traits>());
}

}  // namespace

TEST_SUITE_BEGIN("proxy.statement");

TEST_CASE("a text that somebody holds is shared") {
    statement_registry registry(3, plenty);
    CHECK(registry.find({"select $1", int4, ""}) == nullptr);
    const auto made = add(registry, {"select $1", int4, ""});
    REQUIRE(made != nullptr);
    CHECK(made->id == 1);
    CHECK(made->server_name == "weir_3_1");
    CHECK(made->text == "select $1");
    CHECK(made->oids == int4);
    CHECK(made->shape.hi == 1);
    CHECK(made->traits != nullptr);
    CHECK_FALSE(made->proven);
    CHECK(registry.find({"select $1", int4, ""}) == made);
    CHECK(registry.size() == 1);
}

TEST_CASE("servers get the text or what stands in for it") {
    statement_registry registry(0, plenty);
    const auto traits = std::make_shared<const routing::traits>();
    const auto plain = registry.add({"select 1", "", ""}, {}, traits);
    CHECK(plain->to_send() == "select 1");
    const auto other = registry.add({"show pgweir.target", "", ""}, {}, traits, {}, "select 2");
    CHECK(other->text == "show pgweir.target");
    CHECK(other->to_send() == "select 2");
}

TEST_CASE("types and search_path tell equal texts apart") {
    statement_registry registry(0, plenty);
    const auto one = add(registry, {"select $1", int4, ""});
    CHECK(registry.find({"select $1", text, ""}) == nullptr);
    CHECK(registry.find({"select $1", "", ""}) == nullptr);
    CHECK(registry.find({"select $1", "\0\0\0\x17\0\0\0\x17"sv, ""}) == nullptr);
    CHECK(registry.find({"select $1", int4, "SET \"search_path\" TO a"}) == nullptr);
    CHECK(registry.find({"select $1 ", int4, ""}) == nullptr);
    const auto other = add(registry, {"select $1", int4, "SET \"search_path\" TO a"});
    CHECK(other->id == 2);
    CHECK(other->server_name == "weir_0_2");
    CHECK(registry.find({"select $1", int4, "SET \"search_path\" TO a"}) == other);
    CHECK(registry.find({"select $1", int4, ""}) == one);
    CHECK(registry.size() == 2);
}

TEST_CASE("the last owner releases the text and its number is not used again") {
    statement_registry registry(0, plenty);
    auto one = add(registry, {"select 1", "", ""});
    auto owner = one;
    const auto two = add(registry, {"select 2", "", ""});
    const auto both = registry.bytes();
    one.reset();
    CHECK(registry.bytes() == both);
    CHECK(registry.find({"select 1", "", ""}) == owner);
    owner.reset();
    CHECK(registry.bytes() == both / 2);
    CHECK(registry.size() == 1);
    CHECK(registry.find({"select 1", "", ""}) == nullptr);
    CHECK(add(registry, {"select 1", "", ""})->server_name == "weir_0_3");
    CHECK(registry.size() == 1);
}

TEST_CASE("bytes are limited and come back") {
    std::size_t each = 0;
    {
        statement_registry registry(0, plenty);
        const auto one = add(registry, {"select 1", "", ""});
        each = registry.bytes();
    }
    CHECK(each == 2 * (sizeof("select 1") - 1 + 2) + sizeof(statement));
    statement_registry registry(0, 2 * each);
    auto one = add(registry, {"select 1", "", ""});
    const auto two = add(registry, {"select 2", "", ""});
    REQUIRE(one != nullptr);
    REQUIRE(two != nullptr);
    CHECK(registry.bytes() == 2 * each);
    CHECK(add(registry, {"select 3", "", ""}) == nullptr);
    CHECK(registry.size() == 2);
    CHECK(registry.bytes() == 2 * each);
    one.reset();
    CHECK(add(registry, {"select 30", "", ""}) == nullptr);  // one byte more
    CHECK(add(registry, {"select 3", "", ""}) != nullptr);
}

TEST_CASE("a statement may outlive its registry") {
    statement_ptr kept;
    {
        statement_registry registry(0, plenty);
        kept = add(registry, {"select 1", int4, ""});
    }
    CHECK(kept->text == "select 1");
    CHECK(kept.use_count() == 1);
    kept.reset();
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
