// Removals in as few requests as possible, for a store that compares every document of a request
// with one version. Pure.
#pragma once

#include "migration/version.hpp"

#include <cstddef>
#include <vector>

namespace weir::migration::store {

// A document that is there with version `found`, to be removed unless it is newer than `limit`.
struct aged {
    std::size_t index = 0;  // the caller's
    version found;
    version limit;
};

struct removal_request {
    version limit;  // documents that are not newer are removed
    std::vector<std::size_t> indexes{};
};

// Every document whose `found` is not newer than its `limit` is in exactly one request, whose limit
// lies between the two. So a request removes what was found, and never what its removal may not
// touch, even if the document has changed since it was found. The number of requests is the least
// possible: it is the smallest set of points that meets all intervals [found, limit], taken
// greedily by their upper ends.
[[nodiscard]] std::vector<removal_request> removal_requests(std::vector<aged> all);

}  // namespace weir::migration::store
