// What the tests of the loader share.
#pragma once

#include "config/loader.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weir::config::test {

inline environment variables(std::map<std::string, std::string> known) {
    return [known = std::move(known)](const std::string& name) -> std::optional<std::string> {
        const auto found = known.find(name);
        return found == known.end() ? std::nullopt : std::optional(found->second);
    };
}

// Loads a text as "t.yaml" with no variables and gives its errors, one a line.
inline std::string errors_of(std::string_view yaml, const environment& known = variables({})) {
    return print_errors(load(yaml, "t.yaml", known).errors);
}

// What every complete file needs, to put a test's own lines behind.
inline constexpr std::string_view least =
    R"(clusters: {main: {servers: [{host: a}], monitor: {user: m}}}
databases: {"*": {cluster: main}}
)";

inline std::string complete(std::string_view more) {
    return std::string(least) + std::string(more);
}

}  // namespace weir::config::test
