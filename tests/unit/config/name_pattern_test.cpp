#include "config/name_pattern.hpp"

#include <doctest/doctest.h>

namespace weir::config {

TEST_SUITE_BEGIN("config.name_pattern");

TEST_CASE("a pattern is taken apart") {
    const auto one = parse_name_pattern("org-{organization_id}.v1");
    REQUIRE(one.has_value());
    CHECK(one->before == "org-");
    CHECK(one->column == "organization_id");
    CHECK(one->after == ".v1");
    const auto fixed = parse_name_pattern("groups_1");
    REQUIRE(fixed.has_value());
    CHECK(fixed->before == "groups_1");
    CHECK(fixed->column.empty());
    // A column's name may hold anything but a closing brace.
    CHECK(parse_name_pattern("{Straße 1}")->column == "Straße 1");
}

TEST_CASE("what is no pattern") {
    for (const std::string_view text :
         {"a{", "a}", "{}", "a{b", "{a}{b}", "{a}}", "a b", "a/b", "ä", "a{b}:c"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_name_pattern(text).has_value());
    }
}

TEST_CASE("which patterns may make one name") {
    struct row {
        std::string_view a;
        std::string_view b;
        bool meet;
    };

    constexpr row rows[] = {
        {"x", "x", true},
        {"x", "y", false},
        {"org-{t}", "org-5", true},
        {"org-{t}", "org-", true},
        {"org-{t}", "org", false},
        {"org-{t}", "usr-5", false},
        {"org-{t}-a", "org-{u}-b", false},
        {"org-{t}", "or{u}", true},
        {"org-{t}-a", "o{u}a", true},
        {"{t}", "anything", true},
        {"ab{t}ba", "aba", false},
    };
    for (const auto& r : rows) {
        CAPTURE(r.a);
        CAPTURE(r.b);
        CHECK(overlap(*parse_name_pattern(r.a), *parse_name_pattern(r.b)) == r.meet);
        CHECK(overlap(*parse_name_pattern(r.b), *parse_name_pattern(r.a)) == r.meet);
    }
}

TEST_SUITE_END();

}  // namespace weir::config
