// ${NAME} and file:PATH in the values of a configuration.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace weir::config {

// The value of an environment variable, or nothing when it is not set.
using environment = std::function<std::optional<std::string>(const std::string& name)>;

[[nodiscard]] environment process_environment();

struct substitution {
    std::string text;
    std::string problem;  // empty: the text is good. Names variables and files, never values.

    explicit operator bool() const { return problem.empty(); }
};

// Replaces each ${NAME}; $${ stands for the two characters ${. With `secret`, the name of a missing
// variable is told only when it is the whole text, because the rest may be a password as it is.
[[nodiscard]] substitution expand(std::string_view raw, const environment& variables, bool secret);

// As expand; and file:PATH as the whole text is replaced by that file's content without its last
// line end. A relative path starts at `base`.
[[nodiscard]] substitution
read_secret(std::string_view raw, const environment& variables, const std::filesystem::path& base);

}  // namespace weir::config
