#include "config/reference.hpp"

#include "tests/unit/config/yaml_support.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace weir::config {

namespace {

std::string read(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const auto at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), with);
}

}  // namespace

TEST_SUITE_BEGIN("config.reference");

TEST_CASE("the page in docs is what the schema says") {
    // When this fails, run weir_config_reference > docs/configuration.md.
    CHECK(read(WEIR_REFERENCE_PAGE) == reference_page());
}

TEST_CASE("the example with every key loads and sets every key") {
    const auto yaml = replaced(example_file(), "/run/pgweir", "run");
    const auto known = test::variables(
        {{"MONITOR_PASSWORD", "m"},
         {"APP_PASSWORD", "a"},
         {"STORE_KEY", "s"},
         {"MIGRATE_PASSWORD", "p"}}
    );
    const auto loaded = load(yaml, WEIR_CONFIG_DATA "/example.yaml", known);
    CHECK(print_errors(loaded.errors) == "");
    REQUIRE(loaded.value.has_value());
    CHECK(loaded.value->users.front().secret == "a");
    CHECK(loaded.value->routing.rules.front().match.shape == "0123456789abcdef0123456789abcdef");
    REQUIRE(loaded.value->stores.size() == 1);
    CHECK(loaded.value->stores.front().api_key == "s");
    REQUIRE(loaded.value->migrations.size() == 1);
    CHECK(loaded.value->migrations.front().name_pattern == "org-{organization_id}");
    CHECK(loaded.value->migrations.front().batch.rows == 500);
}

TEST_CASE("the schema for editors closes every object and balances its brackets") {
    const auto text = json_schema();
    int depth = 0;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
            continue;
        }
        inside = inside != (text[i] == '"');
        if (!inside) {
            depth += static_cast<int>(text[i] == '{' || text[i] == '[');
            depth -= static_cast<int>(text[i] == '}' || text[i] == ']');
            REQUIRE(depth >= 0);
        }
    }
    CHECK(depth == 0);
    CHECK_FALSE(inside);
    CHECK(
        text.find(R"("reserve": {"description": "Not available in this version. )") !=
        std::string::npos
    );
    CHECK(text.find(R"("enum": ["transaction", "session"])") != std::string::npos);
    CHECK(text.find(R"("minimum": 1, "maximum": 65535)") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace weir::config
