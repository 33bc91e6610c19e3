// From YAML text to a config, or to all of its errors with their places.
#pragma once

#include "config/config.hpp"
#include "config/error.hpp"
#include "config/substitute.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

struct load_result {
    std::optional<config> value;  // present exactly when there are no errors
    std::vector<error> errors;    // in the order of the text

    explicit operator bool() const { return value.has_value(); }
};

// Reads the files that secrets name and looks whether certificates and directories exist; relative
// paths start at the folder of `file_name`, which otherwise only stands in front of errors. Bad
// input never throws.
[[nodiscard]] load_result
load(std::string_view yaml, const std::string& file_name, const environment& variables);

// The same for a file, with the environment of the process unless another is given.
[[nodiscard]] load_result load_file(const std::string& path);
[[nodiscard]] load_result load_file(const std::string& path, const environment& variables);

// A config without a file: one cluster "main" with these servers ("host:port", "host" or
// "[address]:port"), every database on it, and every user without a password from this machine only
// (loopback and Unix socket), so that the servers alone decide who may log in. The monitor's user
// is left empty.
[[nodiscard]] load_result from_servers(const std::vector<std::string>& host_ports);

// The errors, one a line, each line ended.
[[nodiscard]] std::string print_errors(const std::vector<error>& errors);

}  // namespace weir::config
