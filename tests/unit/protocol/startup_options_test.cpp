#include "protocol/startup_options.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.startup_options");

TEST_CASE("B57 settings in every form PostgreSQL takes") {
    using settings = std::vector<startup_setting>;

    struct {
        const char* text;
        settings expected;
    } const cases[] = {
        {"", {}},
        {"  \t\n\v\f\r ", {}},
        {"-c search_path=app", {{"search_path", "app"}}},
        {"-csearch_path=app", {{"search_path", "app"}}},
        {"--search_path=app", {{"search_path", "app"}}},
        {"--search-path=app", {{"search_path", "app"}}},
        {"-c search-path=a-b", {{"search_path", "a-b"}}},
        {"-c search_path=a,\\ b", {{"search_path", "a, b"}}},
        {"--search_path=\"$user\",\\ public", {{"search_path", "\"$user\", public"}}},
        {"-c\tstatement_timeout=50ms", {{"statement_timeout", "50ms"}}},
        {"-c statement_timeout=5 -c statement_timeout=6",
         {{"statement_timeout", "5"}, {"statement_timeout", "6"}}},
        {"--extra_float_digits=2  -cgeqo=off ", {{"extra_float_digits", "2"}, {"geqo", "off"}}},
        {"-c app.tenant=x\\\\y\\=z", {{"app.tenant", "x\\y=z"}}},
        {"--app.tenant=a=b", {{"app.tenant", "a=b"}}},
        {"-c search_path=", {{"search_path", ""}}},
        {"--unknown_guc=1", {{"unknown_guc", "1"}}},
        {"-c x=1\\\n2", {{"x", "1\n2"}}},
        {"-c x=1\\", {{"x", "1"}}},
        {"-c x='a\\ b'", {{"x", "'a b'"}}},
        {"-c X.Y=1 --", {{"X.Y", "1"}}},
    };

    for (const auto& c : cases) {
        CAPTURE(c.text);
        const auto parsed = parse_startup_options(c.text);
        REQUIRE(parsed.has_value());
        CHECK(*parsed == c.expected);
    }
}

TEST_CASE("B57 everything else is refused by name and never dropped") {
    struct {
        const char* text;
        const char* named;
    } const cases[] = {
        {"-c", "\"-c\""},
        {"-c search_path", "\"-c search_path\""},
        {"-csearch_path", "\"-csearch_path\""},
        {"--search_path", "\"--search_path\""},
        {"--search_path app", "\"--search_path\""},
        {"--=1", "\"--=1\""},
        {"-c =1", "\"-c =1\""},
        {"-c a=b c", "\"c\""},
        {"a=b", "\"a=b\""},
        {"-d 5", "\"-d\""},
        {"-e", "\"-e\""},
        {"-S 1000", "\"-S\""},
        {"-Ecx=1", "\"-Ecx=1\""},
        {"-", "\"-\""},
        {"-- x", "\"--\""},
        {"\\", "\"\""},
        {"-c search_path=a, b", "\"b\""},
    };

    for (const auto& c : cases) {
        CAPTURE(c.text);
        const auto parsed = parse_startup_options(c.text);
        REQUIRE(parsed.has_error());
        CHECK(parsed.error().level == severity::fatal);
        CHECK(parsed.error().code == sqlstates::syntax_error);
        CAPTURE(parsed.error().message);
        CHECK(parsed.error().message.find(c.named) != std::string::npos);
    }
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
