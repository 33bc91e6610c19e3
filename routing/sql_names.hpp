// What the names of PostgreSQL's own functions and relations tell without a catalog.
#pragma once

#include "routing/traits.hpp"

#include <string_view>

namespace weir::routing {

struct name_rule {
    std::string_view name;
    bool is_prefix = false;
    primary_reason reason = primary_reason::none;
    pin_reason pin = pin_reason::none;
};

// The rule for a call of a built-in function; a rule of reason none if there is nothing special. A
// user's function of the same name in another schema is not meant: ask only if the schema is empty
// or pg_catalog.
[[nodiscard]] const name_rule& function_rule(std::string_view name) noexcept;

// Do the rows of this relation depend on the server that is asked? Views of statistics, locks,
// settings and the like.
[[nodiscard]] bool is_node_dependent_relation(std::string_view name) noexcept;

// Is the value of this setting the same on every server for one client? True for settings that
// pgweir tracks and replays; false for those that tell what the server is or how it was configured.
[[nodiscard]] bool is_session_setting(std::string_view name) noexcept;

[[nodiscard]] constexpr bool is_built_in_schema(std::string_view schema) noexcept {
    return schema.empty() || schema == "pg_catalog";
}

// pg_temp is the alias of the session's own schema for temporary objects, pg_temp_3 its real name.
[[nodiscard]] constexpr bool is_temporary_schema(std::string_view schema) noexcept {
    return schema == "pg_temp" || schema.substr(0, 8) == "pg_temp_";
}

}  // namespace weir::routing
