#include "proxy/client/own_settings.hpp"

#include "proxy/client/session_state.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace weir::proxy::test {

using client::own_settings;
using protocol::backend::transaction_status;
using routing::own_action;
using routing::own_consistency;
using routing::own_target;
using routing::own_token;

namespace {

std::string error_of(const std::optional<protocol::diagnostic>& what) {
    return what ? std::string(what->code.text()) + " " + what->message : "";
}

std::string problem(std::string_view name, std::string_view value) {
    return error_of(client::check_own_setting(name, value));
}

std::string hint(std::string_view name, std::string_view value) {
    const auto what = client::check_own_setting(name, value);
    return what ? what->hint : "";
}

std::string problem(own_action action, std::string name, std::string value = {}) {
    const routing::own_statement what{action, false, std::move(name), std::move(value)};
    return error_of(client::check_own_statement(what));
}

// A session without settings of servers.
struct own_session {
    // SET, or SET TO DEFAULT if the value is empty.
    void own(std::string value, bool local = false) {
        const auto action = value.empty() ? own_action::set_default : own_action::set;
        state.apply({action, local, "pgweir.target", std::move(value)});
    }

    [[nodiscard]] std::string target() const {
        return std::string(state.own_value("pgweir.target"));
    }

    settings_intern intern;
    client::session_state state{intern};
};

}  // namespace

TEST_SUITE_BEGIN("proxy.own_settings");

TEST_CASE("without values nothing is asked") {
    const own_settings none;
    CHECK(none.value(own_consistency).empty());
    CHECK(none.value(own_target).empty());
    CHECK_FALSE(none.asked().consistency.has_value());
    CHECK_FALSE(none.asked().targets.has_value());
    CHECK_FALSE(none.has_local());
}

TEST_CASE("a value is shown as it was given and asks what it says") {
    own_settings one;
    one.set(own_consistency, "Bounded:2s", false);
    one.set(own_target, "replica", false);
    CHECK(one.value(own_consistency) == "Bounded:2s");
    CHECK(one.asked().consistency->bound == std::chrono::seconds(2));
    CHECK(one.asked().targets == config::targets::replicas);
    one.set(own_consistency, "", false);
    CHECK(one.value(own_consistency).empty());
    CHECK_FALSE(one.asked().consistency.has_value());
    CHECK(one.asked().targets == config::targets::replicas);
}

TEST_CASE("a local value hides the other until the transaction ends") {
    own_settings one;
    one.set(own_target, "replica", false);
    one.set(own_target, "primary", true);
    CHECK(one.has_local());
    CHECK(one.value(own_target) == "primary");
    CHECK(one.asked().targets == config::targets::primary);
    one.end_transaction();
    CHECK_FALSE(one.has_local());
    CHECK(one.value(own_target) == "replica");
    CHECK(one.asked().targets == config::targets::replicas);
    one.set(own_target, "", true);
    CHECK(one.value(own_target).empty());
    CHECK_FALSE(one.asked().targets.has_value());
    one.set(own_target, "primary", false);  // SET behind SET LOCAL counts
    CHECK(one.value(own_target) == "primary");
    CHECK_FALSE(one.has_local());
    one.end_transaction();
    CHECK(one.value(own_target) == "primary");
}

TEST_CASE("tokens and unknown names are kept nowhere") {
    own_settings one;
    one.set(own_token, "x", true);
    one.set("pgweir.colour", "red", false);
    CHECK_FALSE(one.has_local());
    CHECK(one.value(own_token).empty());
    CHECK(one.value("pgweir.colour").empty());
}

TEST_CASE("what is wrong is told with PostgreSQL's codes") {
    CHECK(problem(own_consistency, "eventual").empty());
    CHECK(problem(own_target, "primary").empty());
    CHECK(problem(own_consistency, "").empty());
    CHECK(problem(own_target, "").empty());
    CHECK(
        problem(own_consistency, "weak") ==
        "22023 invalid value for parameter \"pgweir.consistency\": \"weak\""
    );
    CHECK(problem(own_target, "x") == "22023 invalid value for parameter \"pgweir.target\": \"x\"");
    CHECK(
        problem(own_token, "0/1") ==
        "0A000 parameter \"pgweir.token\" is not available in this version"
    );
    CHECK(
        problem("pgweir.colour", "red") ==
        "42704 unrecognized configuration parameter \"pgweir.colour\""
    );
    CHECK(
        hint(own_consistency, "?") ==
        "Known values are strong, eventual and bounded:<duration>, such as bounded:2s."
    );
    CHECK(hint(own_target, "?") == "Known values are primary, replicas and replicas_then_primary.");
    CHECK(
        client::check_own_setting(own_consistency, "session")->detail ==
        "This level is not available in this version."
    );
}

TEST_CASE("a mistyped name is told the one that was meant") {
    CHECK(hint("pgweir.targets", "") == "Perhaps you meant \"pgweir.target\".");
    CHECK(hint("pgweir.consistancy", "") == "Perhaps you meant \"pgweir.consistency\".");
    CHECK(hint("pgweir.colour", "") == "pgweir has pgweir.consistency and pgweir.target.");
    CHECK(hint("pgweir.", "") == "pgweir has pgweir.consistency and pgweir.target.");
}

TEST_CASE("statements are checked by what they do") {
    CHECK(problem(own_action::none, "").empty());
    CHECK(problem(own_action::set, "pgweir.target", "replica").empty());
    CHECK(problem(own_action::set, "pgweir.target", "x").substr(0, 5) == "22023");
    CHECK(problem(own_action::set_default, "pgweir.target").empty());
    CHECK(problem(own_action::reset, "pgweir.target").empty());
    CHECK(problem(own_action::show, "pgweir.target").empty());
    for (const auto action : {own_action::set_default, own_action::reset, own_action::show}) {
        CHECK(problem(action, "pgweir.token").substr(0, 5) == "0A000");
    }
    CHECK(problem(own_action::reset, "pgweir.colour").substr(0, 5) == "42704");
    CHECK(problem(own_action::show, "pgweir.colour").substr(0, 5) == "42704");
    CHECK(problem(own_action::misplaced, "pgweir.target").substr(0, 5) == "0A000");
    CHECK(error_of(client::own_setting_in_function()).substr(0, 5) == "0A000");
}

TEST_CASE("no server is given the name of a setting but as that of a column") {
    const auto instead = [](own_action action, bool local) {
        return client::stand_in_of({action, local, "pgweir.target", "x"});
    };
    CHECK(instead(own_action::set, false) == "SET weir.nothing TO DEFAULT");
    CHECK(instead(own_action::set, true) == "SET LOCAL weir.nothing TO DEFAULT");
    CHECK(instead(own_action::set_default, false) == "SET weir.nothing TO DEFAULT");
    CHECK(instead(own_action::set_default, true) == "SET LOCAL weir.nothing TO DEFAULT");
    CHECK(instead(own_action::reset, false) == "RESET weir.nothing");
    CHECK(instead(own_action::show, false) == "SELECT ''::pg_catalog.text AS \"pgweir.target\"");
    CHECK(instead(own_action::none, false).empty());
    CHECK(instead(own_action::misplaced, false).empty());
}

TEST_CASE("pgweir's own settings are no server's and follow transactions") {
    own_session s;
    CHECK(s.target().empty());
    CHECK_FALSE(s.state.asked().targets.has_value());
    s.own("replica");
    CHECK(s.state.changed_in_transaction());
    s.state.ready(transaction_status::idle, false);
    CHECK_FALSE(s.state.changed_in_transaction());
    CHECK(s.target() == "replica");
    CHECK(s.state.asked().targets == config::targets::replicas);
    CHECK(s.state.wanted() == nullptr);
    CHECK(s.state.held() == nullptr);
    s.own("primary");
    CHECK(s.state.asked().targets == config::targets::primary);
    s.state.rollback();
    CHECK(s.target() == "replica");
    s.own("");
    s.state.savepoint("a");
    s.own("primary");
    s.state.rollback_to("a");
    CHECK(s.target().empty());
    s.state.rollback();
    CHECK(s.target() == "replica");
    s.own("primary");
    s.state.ready(transaction_status::idle, true);  // an implicit transaction that failed
    CHECK(s.target() == "replica");
}

TEST_CASE("SET LOCAL of pgweir's own settings ends with the transaction") {
    own_session s;
    s.own("replica");
    s.state.commit();
    s.own("primary", true);
    s.state.ready(transaction_status::in_transaction, false);
    CHECK(s.target() == "primary");
    s.state.savepoint("a");
    s.own("", true);
    CHECK(s.target().empty());
    s.state.rollback_to("a");
    CHECK(s.target() == "primary");
    s.state.commit();
    CHECK(s.target() == "replica");
    s.own("primary", true);
    s.state.rollback();
    CHECK(s.target() == "replica");
    s.own("primary", true);  // outside a transaction
    s.state.ready(transaction_status::idle, false);
    CHECK(s.target() == "replica");
    s.own("replica", true);
    s.own("primary");
    s.state.commit();
    CHECK(s.target() == "primary");
}

TEST_CASE("resets of pgweir's own settings go back to what came with the connection") {
    settings_intern intern;
    client::session_state state(intern);
    const auto given = std::make_shared<client::own_settings>();
    given->set("pgweir.target", "replica", false);
    state.start(nullptr, given);
    const auto target = [&] { return std::string(state.own_value("pgweir.target")); };
    const auto set = [&] {
        state.apply({own_action::set, false, "pgweir.target", "primary"});
        CHECK(target() == "primary");
    };
    CHECK(state.asked().targets == config::targets::replicas);
    set();
    state.apply({own_action::reset, false, "pgweir.target", ""});
    CHECK(target() == "replica");
    set();
    state.apply({{routing::setting_action::reset_all, {}, {}}});
    CHECK(target() == "replica");
    set();
    state.discard_all();
    CHECK(target() == "replica");
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
