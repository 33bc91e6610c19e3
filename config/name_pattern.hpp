// How a migration's namespaces are named: fixed text with at most one {column}. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::config {

struct name_pattern {
    std::string before;
    std::string column;  // empty: the name is fixed, and `before` is all of it
    std::string after;
};

// "org-{organization_id}". Nothing for a brace that does not belong to one {column}, and for fixed
// text with other characters than letters, digits, '-', '_' and '.'.
[[nodiscard]] std::optional<name_pattern> parse_name_pattern(std::string_view text);

// Whether one name may be made by both. A column's value gives any text.
[[nodiscard]] bool overlap(const name_pattern& a, const name_pattern& b);

}  // namespace weir::config
