// The configuration in effect as rows, for SHOW CONFIG and `pgweir check`. Secrets are never in
// them.
#pragma once

#include "config/config.hpp"

#include <string>
#include <vector>

namespace weir::config {

// Values are printed as in YAML. A secret that is set is "***".
struct config_row {
    std::string key;  // "clusters.main.pool.size"; list elements by name: "users[app].password"
    std::string value;
    std::string default_value;
    bool reloadable = true;  // RELOAD applies a change
};

// One row for each key of the schema that the config holds, in the schema's order.
[[nodiscard]] std::vector<config_row> rows_of(const config& c);

}  // namespace weir::config
