#include "routing/hints.hpp"

#include "routing/shape.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

namespace weir::routing {

using config::consistency;
using config::consistency_level;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("routing.hints");

TEST_CASE("Every key is read") {
    const auto h = parse_hints("consistency=bounded:2s target=replica token=abc/1");
    CHECK(h.consistency == consistency{consistency_level::bounded, 2'000ms});
    CHECK(h.target == config::targets::replicas);
    CHECK(h.token == "abc/1");
    CHECK(h.problem == hint_problem::none);
    CHECK(
        parse_hints("consistency=strong").consistency == consistency{consistency_level::strong, 0ms}
    );
    CHECK(
        parse_hints("consistency=eventual").consistency ==
        consistency{consistency_level::eventual, 0ms}
    );
    CHECK(parse_hints("consistency=bounded:150ms").consistency->bound == 150ms);
    CHECK(parse_hints("target=primary").target == config::targets::primary);
    CHECK(parse_hints("target=replicas").target == config::targets::replicas);
    CHECK(
        parse_hints("target=replicas_then_primary").target == config::targets::replicas_then_primary
    );
}

TEST_CASE("Letters blanks and commas do not matter and the last of two counts") {
    const auto h = parse_hints("  TARGET=Primary,\n\tConsistency=BOUNDED:1m ,, target=replica ");
    CHECK(h.target == config::targets::replicas);
    CHECK(h.consistency == consistency{consistency_level::bounded, 60'000ms});
    CHECK(h.problem == hint_problem::none);
    CHECK(parse_hints("token=AbC").token == "AbC");
}

TEST_CASE("Nothing asked for is nothing set") {
    const auto h = parse_hints("");
    CHECK_FALSE(h.consistency.has_value());
    CHECK_FALSE(h.target.has_value());
    CHECK(h.token.empty());
    CHECK(h.problem == hint_problem::none);
}

TEST_CASE("What is wrong is named and does not spoil the rest") {
    struct wrong_case {
        const char* body;
        hint_problem problem;
        const char* culprit;
    };

    constexpr wrong_case cases[] = {
        {"target=primary nonsense", hint_problem::no_value, "nonsense"},
        {"target=primary colour=red", hint_problem::unknown_key, "colour=red"},
        {"target=primary consistency=weak", hint_problem::unknown_value, "consistency=weak"},
        {"target=primary consistency=", hint_problem::unknown_value, "consistency="},
        {"target=primary consistency=bounded", hint_problem::unknown_value, "consistency=bounded"},
        {"target=primary consistency=bounded:", hint_problem::bad_duration, "consistency=bounded:"},
        {"target=primary consistency=bounded:2",
         hint_problem::bad_duration,
         "consistency=bounded:2"},
        {"target=primary consistency=bounded:0",
         hint_problem::bad_duration,
         "consistency=bounded:0"},
        {"target=primary consistency=bounded:-1s",
         hint_problem::bad_duration,
         "consistency=bounded:-1s"},
        {"target=primary consistency=latest", hint_problem::not_available, "consistency=latest"},
        {"target=primary consistency=session", hint_problem::not_available, "consistency=session"},
        {"target=primary token=", hint_problem::no_value, "token="},
        {"x=1 target=primary y=2", hint_problem::unknown_key, "x=1"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.body));
        const auto h = parse_hints(c.body);
        CHECK(h.problem == c.problem);
        CHECK(h.culprit == std::string(c.culprit));
        CHECK(h.target == config::targets::primary);
        CHECK_FALSE(h.consistency.has_value());
        CHECK_FALSE(describe(h.problem).empty());
    }
    CHECK(parse_hints("target=somewhere").problem == hint_problem::unknown_value);
}

TEST_CASE("The hint that a shape points at can be read") {
    const std::string sql = "SELECT 1 /* pgweir: target=replica */ FROM t";
    const auto found = scan(sql).hint;
    CHECK(
        parse_hints(std::string_view(sql).substr(found.offset, found.length)).target ==
        config::targets::replicas
    );
}

TEST_SUITE_END();

}  // namespace weir::routing
