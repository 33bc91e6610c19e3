#include "config/name_pattern.hpp"

#include <algorithm>

namespace weir::config {

namespace {

bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    });
}

// Whether one of the two begins (or, with `back`, ends) with the other.
bool compatible(const std::string& a, const std::string& b, bool back) {
    const auto& shorter = a.size() < b.size() ? a : b;
    const std::string_view longer = a.size() < b.size() ? b : a;
    return back ? longer.ends_with(shorter) : longer.starts_with(shorter);
}

bool makes(const name_pattern& pattern, const std::string& name) {
    return name.size() >= pattern.before.size() + pattern.after.size() &&
           name.starts_with(pattern.before) && name.ends_with(pattern.after);
}

}  // namespace

std::optional<name_pattern> parse_name_pattern(std::string_view text) {
    const auto open = text.find('{');
    name_pattern found;
    if (open == std::string_view::npos) {
        found.before = text;
        return is_plain(text) ? std::optional(found) : std::nullopt;
    }
    const auto close = text.find('}', open);
    if (close == std::string_view::npos || close == open + 1) {
        return std::nullopt;
    }
    found.before = text.substr(0, open);
    found.column = text.substr(open + 1, close - open - 1);
    found.after = text.substr(close + 1);
    return is_plain(found.before) && is_plain(found.after) ? std::optional(found) : std::nullopt;
}

bool overlap(const name_pattern& a, const name_pattern& b) {
    if (a.column.empty()) {
        return b.column.empty() ? a.before == b.before : makes(b, a.before);
    }
    if (b.column.empty()) {
        return makes(a, b.before);
    }
    return compatible(a.before, b.before, false) && compatible(a.after, b.after, true);
}

}  // namespace weir::config
