#include "proxy/client/own_settings.hpp"

#include "config/suggest.hpp"

#include <array>
#include <utility>

namespace weir::proxy::client {
namespace {

using protocol::diagnostic;
using routing::hint_problem;
using routing::own_action;
namespace sqlstates = protocol::sqlstates;

bool is_known(std::string_view name) {
    return name == routing::own_consistency || name == routing::own_target ||
           name == routing::own_token;
}

std::string quoted(std::string_view text) {
    return '"' + std::string(text) + '"';
}

diagnostic error(protocol::sqlstate code, std::string message, std::string hint) {
    diagnostic made;
    made.code = code;
    made.message = std::move(message);
    made.hint = std::move(hint);
    return made;
}

diagnostic unknown(std::string_view name) {
    const std::array<std::string, 2> known{"consistency", "target"};
    const auto meant = config::closest(name.substr(routing::own_prefix.size()), known);
    return error(
        sqlstates::undefined_object,
        "unrecognized configuration parameter " + quoted(name),
        meant.empty() ? "pgweir has pgweir.consistency and pgweir.target."
                      : "Perhaps you meant \"pgweir." + meant + "\"."
    );
}

// The token of a session, for which there is no comparison between sessions yet.
diagnostic token_not_available() {
    return error(
        sqlstates::feature_not_supported,
        "parameter \"pgweir.token\" is not available in this version",
        "A read that must see another session's write can ask for pgweir.consistency = 'strong'."
    );
}

const char* values_of(std::string_view name) {
    return name == routing::own_consistency
               ? "Known values are strong, eventual and bounded:<duration>, such as bounded:2s."
               : "Known values are primary, replicas and replicas_then_primary.";
}

}  // namespace

void own_settings::set(std::string_view name, std::string_view value, bool local) {
    const auto which = find(name);
    if (which == nullptr) {
        return;
    }
    auto& found = this->*which;
    if (local) {
        found.local = value;
    } else {
        found.session = value;
        found.local.reset();
    }
    read();
}

void own_settings::end_transaction() {
    consistency_.local.reset();
    target_.local.reset();
    read();
}

std::string_view own_settings::value(std::string_view name) const {
    const auto which = find(name);
    return which == nullptr ? std::string_view{} : std::string_view((this->*which).value());
}

own_settings::slot own_settings::*own_settings::find(std::string_view name) {
    if (name == routing::own_consistency) {
        return &own_settings::consistency_;
    }
    return name == routing::own_target ? &own_settings::target_ : nullptr;
}

void own_settings::read() {
    asked_ = {};
    for (const auto name : {routing::own_consistency, routing::own_target}) {
        (void)routing::read_own_setting(name, value(name), asked_);
    }
}

std::optional<diagnostic> check_own_setting(std::string_view name, std::string_view value) {
    if (!is_known(name)) {
        return unknown(name);
    }
    if (name == routing::own_token) {
        return token_not_available();
    }
    routing::route_override ignored;
    const auto problem = routing::read_own_setting(name, value, ignored);
    if (problem == hint_problem::none) {
        return std::nullopt;
    }
    auto made = error(
        sqlstates::invalid_parameter_value,
        "invalid value for parameter " + quoted(name) + ": " + quoted(value),
        values_of(name)
    );
    if (problem == hint_problem::not_available) {
        made.detail = "This level is not available in this version.";
    }
    return made;
}

std::optional<diagnostic> check_own_statement(const routing::own_statement& what) {
    switch (what.action) {
    case own_action::none: return std::nullopt;
    case own_action::set: return check_own_setting(what.name, what.value);
    case own_action::set_default:
    case own_action::reset:
    case own_action::show: return check_own_setting(what.name, {});
    case own_action::misplaced: break;
    }
    return error(
        sqlstates::feature_not_supported,
        "SET, RESET and SHOW of a setting of pgweir's own must be the only statement of its query",
        "Send it by itself, with a constant value."
    );
}

diagnostic own_setting_in_function() {
    return error(
        sqlstates::feature_not_supported,
        "set_config() cannot change a setting of pgweir's own",
        "Use SET or SET LOCAL."
    );
}

std::string stand_in_of(const routing::own_statement& what) {
    switch (what.action) {
    case own_action::none:
    case own_action::misplaced: break;
    case own_action::set:
    case own_action::set_default:
        return what.local ? "SET LOCAL weir.nothing TO DEFAULT" : "SET weir.nothing TO DEFAULT";
    case own_action::reset: return "RESET weir.nothing";
    case own_action::show: return "SELECT ''::pg_catalog.text AS \"" + what.name + '"';
    }
    return {};
}

}  // namespace weir::proxy::client
