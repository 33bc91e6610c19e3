#include "routing/own_setting.hpp"

#include "routing/sql_parser.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace weir::routing {

using config::consistency;
using config::consistency_level;
using config::targets;
using namespace std::chrono_literals;

namespace {

// "set pgweir.target replica", "local set …", "" without one.
std::string own_of(std::string_view sql) {
    const auto own = parse(sql).value.own;
    std::string text = own.local ? "local " : "";
    switch (own.action) {
    case own_action::none: return "";
    case own_action::set: text += "set " + own.name + " " + own.value; break;
    case own_action::set_default: text += "default " + own.name; break;
    case own_action::reset: text += "reset " + own.name; break;
    case own_action::show: text += "show " + own.name; break;
    case own_action::misplaced: text += "misplaced"; break;
    }
    return text;
}

}  // namespace

TEST_SUITE_BEGIN("routing.own_setting");

TEST_CASE("SET RESET and SHOW of pgweir's own settings are known in every spelling") {
    struct own_case {
        const char* sql;
        const char* expected;
    };

    constexpr own_case cases[] = {
        {"SET pgweir.consistency = 'bounded:2s'", "set pgweir.consistency bounded:2s"},
        {"set session PgWeir.Consistency to eventual;", "set pgweir.consistency eventual"},
        {"SET \"pgweir\".\"target\" = 'replica'", "set pgweir.target replica"},
        {"SET LOCAL pgweir.target = 'primary'", "local set pgweir.target primary"},
        {"SET pgweir.target = 'it''s'", "set pgweir.target it's"},
        {"SET pgweir.target = a, 'b', 3", "set pgweir.target a, b, 3"},
        {"SET pgweir.token = 5", "set pgweir.token 5"},
        {"SET pgweir.colour = red", "set pgweir.colour red"},
        {"SET pgweir.target TO DEFAULT", "default pgweir.target"},
        {"SET LOCAL pgweir.target TO DEFAULT", "local default pgweir.target"},
        {"RESET pgweir.target", "reset pgweir.target"},
        {"SHOW pgweir.token", "show pgweir.token"},
        {"show \"pgweir.target\"", "show pgweir.target"},
        {"SET pgweir.target FROM CURRENT", "misplaced"},
        {"SET pgweir.target = replica; SELECT 1", "misplaced"},
        {"SELECT 1; SHOW pgweir.target", "misplaced"},
        {"RESET pgweir.target; RESET pgweir.consistency", "misplaced"},
        {"SET pgweirs.target = replica", ""},
        {"SET pgweir = replica", ""},
        {"SHOW work_mem", ""},
        {"RESET ALL", ""},
        {"SELECT set_config('pgweir.target', 'replica', false)", ""},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        CHECK(own_of(c.sql) == std::string(c.expected));
    }
}

TEST_CASE("they are no settings that a server would be given") {
    for (const auto* sql :
         {"SET pgweir.target = replica",
          "SET LOCAL pgweir.target = replica",
          "RESET pgweir.target",
          "SET pgweir.target FROM CURRENT"}) {
        CAPTURE(std::string(sql));
        const auto value = parse(sql).value;
        CHECK(value.settings.empty());
        CHECK(value.pin == pin_reason::none);
        CHECK_FALSE(value.replica_by_syntax());
    }
    CHECK(parse("SET pgweir.target = replica").value.kind == statement_kind::set);
    CHECK(parse("RESET pgweir.target").value.kind == statement_kind::reset);
    CHECK(parse("SHOW pgweir.target").value.kind == statement_kind::show);
}

TEST_CASE("values are those of hints and the last one read of each counts") {
    route_override asked;
    CHECK(read_own_setting(own_consistency, "Bounded:2s", asked) == hint_problem::none);
    CHECK(asked.consistency == consistency{consistency_level::bounded, 2'000ms});
    CHECK_FALSE(asked.targets.has_value());
    CHECK(read_own_setting(own_target, "replica", asked) == hint_problem::none);
    CHECK(asked.targets == targets::replicas);
    CHECK(asked.consistency == consistency{consistency_level::bounded, 2'000ms});
    CHECK(read_own_setting(own_consistency, "strong", asked) == hint_problem::none);
    CHECK(asked.consistency == consistency{consistency_level::strong, 0ms});
    for (const auto* text : {"replicas", "Replicas_Then_Primary", "primary"}) {
        CHECK(read_own_setting(own_target, text, asked) == hint_problem::none);
    }
    CHECK(asked.targets == targets::primary);
    CHECK(read_own_setting(own_target, "replicas_then_primary", asked) == hint_problem::none);
    CHECK(asked.targets == targets::replicas_then_primary);
    CHECK(read_own_setting(own_target, "", asked) == hint_problem::none);  // asks for nothing
    CHECK(asked.targets == targets::replicas_then_primary);
}

TEST_CASE("a value that is none is told and changes nothing") {
    struct wrong_case {
        std::string_view name;
        const char* value;
        hint_problem problem;
    };

    const wrong_case cases[] = {
        {own_consistency, "weak", hint_problem::unknown_value},
        {own_consistency, "bounded:2", hint_problem::bad_duration},
        {own_consistency, "session", hint_problem::not_available},
        {own_target, "secondary", hint_problem::unknown_value},
        {own_target, " primary", hint_problem::unknown_value},
        {own_token, "1:00000001:0/1", hint_problem::not_available},
        {own_token, "", hint_problem::not_available},
        {"pgweir.colour", "red", hint_problem::unknown_key},
        {"pgweir.", "red", hint_problem::unknown_key},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.name));
        CAPTURE(std::string(c.value));
        route_override asked;
        CHECK(read_own_setting(c.name, c.value, asked) == c.problem);
        CHECK_FALSE(asked.consistency.has_value());
        CHECK_FALSE(asked.targets.has_value());
    }
    route_override asked;
    const auto bound = [&](std::size_t zeros) {
        const auto value = "bounded:" + std::string(zeros, '0') + "2s";
        return read_own_setting(own_consistency, value, asked);
    };
    CHECK(bound(54) == hint_problem::none);
    CHECK(bound(55) == hint_problem::unknown_value);  // what is kept of it is bounded
}

TEST_CASE("a hint with a token means the primary") {
    CHECK(override_of(parse_hints("token=abc target=replica")).targets == targets::primary);
    const auto none = override_of(parse_hints("target=replica consistency=eventual"));
    CHECK(none.targets == targets::replicas);
    CHECK(none.consistency == consistency{consistency_level::eventual, 0ms});
    CHECK_FALSE(none.standing);
}

TEST_CASE("a hint counts before the settings") {
    const consistency strong{consistency_level::strong, 0ms};
    const consistency eventual{consistency_level::eventual, 0ms};
    const route_override settings{strong, targets::replicas};

    const auto alone = merged({}, settings);
    CHECK(alone.consistency == strong);
    CHECK(alone.targets == targets::replicas);
    CHECK(alone.standing);

    const auto level = merged({eventual, {}}, settings);
    CHECK(level.consistency == eventual);
    CHECK(level.targets == targets::replicas);
    CHECK(level.standing);

    const auto primary = merged({{}, targets::primary}, {eventual, targets::replicas});
    CHECK(primary.consistency == eventual);
    CHECK(primary.targets == targets::primary);
    CHECK_FALSE(primary.standing);

    // A setting "strong" would take the replicas of the hint back.
    const auto replicas = merged({{}, targets::replicas}, settings);
    CHECK_FALSE(replicas.consistency.has_value());
    CHECK(replicas.targets == targets::replicas);
    CHECK_FALSE(replicas.standing);
    CHECK(merged({{}, targets::replicas}, {eventual, {}}).consistency == eventual);
    CHECK(merged({strong, targets::replicas}, {eventual, {}}).consistency == strong);

    const auto neither = merged({}, {});
    CHECK_FALSE(neither.consistency.has_value());
    CHECK_FALSE(neither.targets.has_value());
}

TEST_CASE("a mention is found in any case of letters") {
    CHECK(mentions_own_setting("select set_config('pgweir.target', 'x', false)"));
    CHECK(mentions_own_setting("a.b.PGWeir.x"));
    CHECK(mentions_own_setting("pgweir."));
    CHECK_FALSE(mentions_own_setting("pgweir"));
    CHECK_FALSE(mentions_own_setting("gweir.x"));
    CHECK_FALSE(mentions_own_setting("."));
    CHECK_FALSE(mentions_own_setting(""));
}

TEST_SUITE_END();

}  // namespace weir::routing
