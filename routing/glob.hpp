// Shell-like patterns of the rules: `*` stands for any run of characters, `?` for one, the rest for
// itself.
#pragma once

#include <string_view>

namespace weir::routing {

[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text) noexcept;

// For names with a schema. A pattern with a dot is held against "schema.name", one without against
// the name alone. An empty schema matches no pattern with a dot.
[[nodiscard]] bool
glob_match_name(std::string_view pattern, std::string_view schema, std::string_view name) noexcept;

}  // namespace weir::routing
