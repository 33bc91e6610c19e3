// The settings that are pgweir's own, for SET, RESET, SHOW and the start-up packet: the hints of a
// comment (hints.hpp) under names like pgweir.consistency, for a session or a transaction. Pure.
#pragma once

#include "routing/hints.hpp"
#include "routing/router.hpp"

#include <string_view>

namespace weir::routing {

constexpr std::string_view own_prefix = "pgweir.";
constexpr std::string_view own_consistency = "pgweir.consistency";
constexpr std::string_view own_target = "pgweir.target";
constexpr std::string_view own_token = "pgweir.token";

// `name` in lower case. Known or not: every name with the prefix belongs to pgweir.
[[nodiscard]] constexpr bool is_own_setting(std::string_view name) noexcept {
    return name.substr(0, own_prefix.size()) == own_prefix;
}

// Whether a text may name one in a literal, as in set_config('pgweir.target', …). Quick; what it
// finds has to be looked at.
[[nodiscard]] bool mentions_own_setting(std::string_view sql) noexcept;

// Reads the value of one setting into `out`; the others in it stay. An empty value asks for
// nothing. Nothing changes if there is a problem.
[[nodiscard]] hint_problem
read_own_setting(std::string_view name, std::string_view value, route_override& out);

// What the hint of a comment asks for. What a token stands for must be seen, and positions of other
// sessions are not compared yet: the primary.
[[nodiscard]] route_override override_of(const hints& from);

// What counts for a statement with this hint in a session with these settings: the hint first.
[[nodiscard]] route_override merged(const route_override& hint, const route_override& settings);

}  // namespace weir::routing
