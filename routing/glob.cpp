#include "routing/glob.hpp"

#include <cstddef>

namespace weir::routing {

bool glob_match(std::string_view pattern, std::string_view text) noexcept {
    constexpr auto none = std::string_view::npos;
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = none;  // the last `*` seen
    std::size_t resume = 0;   // where in the text that `*` ends for now
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != none) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') {
        ++p;
    }
    return p == pattern.size();
}

bool glob_match_name(
    std::string_view pattern,
    std::string_view schema,
    std::string_view name
) noexcept {
    const std::size_t dot = pattern.find('.');
    if (dot == std::string_view::npos) {
        return glob_match(pattern, name);
    }
    return !schema.empty() && glob_match(pattern.substr(0, dot), schema) &&
           glob_match(pattern.substr(dot + 1), name);
}

}  // namespace weir::routing
