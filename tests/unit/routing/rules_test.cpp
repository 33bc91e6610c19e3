#include "routing/rules.hpp"

#include "routing/glob.hpp"

#include <doctest/doctest.h>

namespace weir::routing {

using config::consistency;
using config::consistency_level;

namespace {

constexpr consistency strong{consistency_level::strong, {}};
constexpr consistency eventual{consistency_level::eventual, {}};
constexpr consistency by_lag_max{consistency_level::bounded, {}};

traits read_of(std::vector<relation_name> relations, bool vector = false) {
    traits statement;
    statement.kind = statement_kind::read;
    statement.reason = primary_reason::none;
    statement.relations = std::move(relations);
    statement.is_vector_search = vector;
    return statement;
}

config::rule rule_named(std::string name) {
    config::rule rule;
    rule.name = std::move(name);
    rule.consistency = eventual;
    return rule;
}

std::string name_for(
    const config::rule& rule,
    const traits& statement,
    const session_facts& session = {},
    bool read = true
) {
    config::routing config;
    config.rules.push_back(rule);
    const rule_set rules(config);
    return rules.match(statement, {}, read, session).name;
}

}  // namespace

TEST_SUITE_BEGIN("routing.rules");

TEST_CASE("globs") {
    struct row {
        const char* pattern;
        const char* text;
        bool matches;
    };

    const row rows[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "a", true},
        {"a", "b", false},
        {"*", "", true},
        {"*", "abc", true},
        {"a*", "abc", true},
        {"*c", "abc", true},
        {"a*c", "abbc", true},
        {"a*c", "abb", false},
        {"?", "", false},
        {"a?c", "abc", true},
        {"*a*b*", "xaxbx", true},
        {"*ab*ab", "abab", true},
        {"*aab", "aaaab", true},
        {"a.c", "abc", false},
        {"A", "a", false},
        {"**", "", true},
    };
    for (const row& r : rows) {
        CAPTURE(r.pattern);
        CAPTURE(r.text);
        CHECK(glob_match(r.pattern, r.text) == r.matches);
    }
}

TEST_CASE("globs of names with a schema") {
    CHECK(glob_match_name("items", "any", "items"));
    CHECK(glob_match_name("items", "", "items"));
    CHECK(glob_match_name("features.*", "features", "items"));
    CHECK_FALSE(glob_match_name("features.*", "public", "items"));
    CHECK_FALSE(glob_match_name("*.*", "", "items"));
    CHECK_FALSE(glob_match_name("f*s", "features", "items"));
}

TEST_CASE("without a rule vector searches are bounded by lag.max and all else is strong") {
    const rule_set rules(config::routing{});
    const policy& vector = rules.match(read_of({{"", "items"}}, true), {}, true, {});
    CHECK(vector.name == "vector");
    CHECK(vector.consistency == by_lag_max);
    CHECK(vector.targets == config::targets::replicas_then_primary);
    CHECK(vector.settings->empty());
    const policy& other = rules.match(read_of({{"", "items"}}), {}, true, {});
    CHECK(other.name == "default");
    CHECK(other.consistency == strong);
}

TEST_CASE("the first rule that matches decides") {
    config::routing config;
    config.rules = {rule_named("one"), rule_named("two"), rule_named("three")};
    config.rules[0].match.database = "shop";
    config.rules[1].match.vector = true;
    const rule_set rules(config);
    const traits search = read_of({{"", "items"}}, true);
    CHECK(rules.match(search, {}, true, {.database = "shop"}).name == "one");
    CHECK(rules.match(search, {}, true, {.database = "other"}).name == "two");
    CHECK(rules.match(read_of({}), {}, true, {.database = "other"}).name == "three");
}

TEST_CASE("conditions on the session are globs and all must hold") {
    config::rule rule = rule_named("r");
    rule.match.database = "shop_*";
    rule.match.user = "app";
    rule.match.application_name = "*worker";
    const traits any = read_of({});
    CHECK(
        name_for(
            rule,
            any,
            {.database = "shop_eu", .user = "app", .application_name = "w-worker"}
        ) == "r"
    );
    CHECK(
        name_for(rule, any, {.database = "shop", .user = "app", .application_name = "worker"}) ==
        "default"
    );
    CHECK(
        name_for(rule, any, {.database = "shop_eu", .user = "ap", .application_name = "worker"}) ==
        "default"
    );
    CHECK(
        name_for(rule, any, {.database = "shop_eu", .user = "app", .application_name = "web"}) ==
        "default"
    );
}

TEST_CASE("every relation must be listed and there must be one") {
    config::rule rule = rule_named("r");
    rule.match.tables = {"features.*", "items"};

    struct row {
        const char* name;
        std::vector<relation_name> relations;
        bool matches;
    };

    const row rows[] = {
        {"listed schema", {{"features", "a"}}, true},
        {"listed name in any schema", {{"x", "items"}}, true},
        {"both", {{"features", "a"}, {"", "items"}}, true},
        {"one is not listed", {{"features", "a"}, {"", "users"}}, false},
        {"unqualified stands in public", {{"", "a"}}, false},
        {"no relation", {}, false},
    };
    for (const row& r : rows) {
        CAPTURE(r.name);
        CHECK((name_for(rule, read_of(r.relations)) == "r") == r.matches);
    }
    CHECK(name_for(rule, read_of({{"", "a"}}), {.schema = "features"}) == "r");
}

TEST_CASE("one listed function is enough") {
    config::rule rule = rule_named("r");
    rule.match.functions = {"search_*", "pg_catalog.lower"};
    traits statement = read_of({});
    CHECK(name_for(rule, statement) == "default");
    statement.functions = {{"", "count"}, {"api", "search_items"}};
    CHECK(name_for(rule, statement) == "r");
    statement.functions = {{"", "lower"}};
    CHECK(name_for(rule, statement) == "r");
    statement.functions = {{"public", "lower"}};
    CHECK(name_for(rule, statement) == "default");
}

TEST_CASE("kind tells reads from all else") {
    config::rule rule = rule_named("r");
    rule.match.kind = "read";
    CHECK(name_for(rule, read_of({}), {}, true) == "r");
    CHECK(name_for(rule, read_of({}), {}, false) == "default");
    rule.match.kind = "write";
    CHECK(name_for(rule, read_of({}), {}, true) == "default");
    CHECK(name_for(rule, read_of({}), {}, false) == "r");
}

TEST_CASE("vector may be asked for or ruled out") {
    config::rule rule = rule_named("r");
    rule.match.vector = false;
    CHECK(name_for(rule, read_of({})) == "r");
    CHECK(name_for(rule, read_of({}, true)) == "vector");
}

TEST_CASE("a shape is matched by the digits that are printed") {
    const shape key = scan("SELECT 1");
    config::routing config;
    config.rules = {rule_named("r")};
    config.rules[0].match.shape = to_string(key);
    const rule_set rules(config);
    CHECK(rules.match(read_of({}), key, true, {}).name == "r");
    CHECK(rules.match(read_of({}), scan("SELECT x"), true, {}).name == "default");
    config.rules[0].match.shape = "12";
    CHECK(rule_set(config).match(read_of({}), key, true, {}).name == "default");
}

TEST_CASE("a rule without a level leaves it to what the statement is") {
    struct row {
        const char* name;
        std::optional<config::targets> targets;
        bool vector;
        consistency expected;
    };

    const row rows[] = {
        {"plain read", std::nullopt, false, strong},
        {"vector search", std::nullopt, true, by_lag_max},
        {"replicas named", config::targets::replicas, false, by_lag_max},
        {"replicas first", config::targets::replicas_then_primary, false, by_lag_max},
        {"primary named", config::targets::primary, false, strong},
    };
    for (const row& r : rows) {
        CAPTURE(r.name);
        config::routing config;
        config.rules = {rule_named("r")};
        config.rules[0].consistency.reset();
        config.rules[0].targets = r.targets;
        const rule_set rules(config);
        const policy& result = rules.match(read_of({}, r.vector), {}, true, {});
        CHECK(result.name == "r");
        CHECK(result.consistency == r.expected);
    }
}

TEST_CASE("equal settings are one list") {
    config::routing config;
    config.rules = {rule_named("one"), rule_named("two")};
    config.rules[0].match.vector = true;
    config.rules[0].settings = {{"hnsw.ef_search", "200"}, {"statement_timeout", "1s"}};
    config.rules[1].settings = config.rules[0].settings;
    const rule_set rules(config);
    const auto first = rules.match(read_of({}, true), {}, true, {}).settings;
    const auto second = rules.match(read_of({}), {}, true, {}).settings;
    CHECK(first == second);
    CHECK(first->size() == 2);
    CHECK((*first)[0].first == "hnsw.ef_search");
}

TEST_SUITE_END();

}  // namespace weir::routing
