// What a migration was started with: if the YAML or the table says something else later, documents
// in the store no longer are what the plan says. Pure.
#pragma once

#include "migration/plan.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weir::migration {

// A JSON object of all that shapes documents and their places: table, columns with their kinds,
// dimensions, metric, namespaces, and the store's name in the configuration.
[[nodiscard]] std::string fingerprint_of(const plan& what, const std::string& store);

// Names and values of what has changed since: "metric: cosine, now l2"; nothing if all is the same.
// An object without members, of a migration that kept no fingerprint, is the same as any.
[[nodiscard]] std::optional<std::string>
changed_since(std::string_view fingerprint, const plan& what, const std::string& store);

}  // namespace weir::migration
