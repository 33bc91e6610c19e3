// The adapter for a store of the configuration.
#pragma once

#include "config/config.hpp"
#include "migration/store/store.hpp"

#include <memory>

namespace weir::migration::store {

// Connects to nothing yet. Throws std::runtime_error for a URL or a CA file that cannot be used.
[[nodiscard]] std::unique_ptr<store> open(const config::store& from, const layout& documents);

}  // namespace weir::migration::store
