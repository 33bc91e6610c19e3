// What a migration's namespaces hold already, and how new it is.
#pragma once

#include "migration/plan.hpp"
#include "migration/store/store.hpp"
#include "migration/version.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weir::migration {

struct census {
    std::uint64_t documents = 0;
    std::optional<version> newest;
    // Documents without a version that pgweir can read, and a namespace with such.
    std::uint64_t foreign = 0;
    std::string foreign_space;
};

// The namespaces of the plan that are there.
[[nodiscard]] store::result<std::vector<std::string>>
namespaces_of(store::store& target, const plan& what);

// Reads the versions of all documents; calls `between` before each page, which may throw.
[[nodiscard]] store::result<census> take_census(
    store::store& target,
    const std::vector<std::string>& spaces,
    const std::function<void()>& between
);

}  // namespace weir::migration
