// What a reload would change.
#pragma once

#include "config/config.hpp"

#include <string>
#include <vector>

namespace weir::config {

struct difference {
    std::string key;   // as in print.hpp
    std::string text;  // "20 -> 30", "added", "removed", "changed" (a secret), "order changed"
    bool needs_restart = false;  // RELOAD does not apply it

    friend bool operator==(const difference&, const difference&) = default;
};

// In the order of the schema; empty when the two say the same. Secrets are compared but never
// shown.
[[nodiscard]] std::vector<difference> differences(const config& before, const config& after);

// "clusters.main.pool.size: 20 -> 30", with " (needs a restart)" where it does.
[[nodiscard]] std::string to_string(const difference& d);

}  // namespace weir::config
