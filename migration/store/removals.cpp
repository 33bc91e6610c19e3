#include "migration/store/removals.hpp"

#include <algorithm>

namespace weir::migration::store {

std::vector<removal_request> removal_requests(std::vector<aged> all) {
    std::erase_if(all, [](const aged& each) { return each.found > each.limit; });
    std::sort(all.begin(), all.end(), [](const aged& a, const aged& b) {
        return a.limit < b.limit;
    });
    std::vector<removal_request> made;
    for (const auto& each : all) {
        if (made.empty() || made.back().limit < each.found) {
            made.push_back({.limit = each.limit, .indexes = {}});
        }
        made.back().indexes.push_back(each.index);
    }
    return made;
}

}  // namespace weir::migration::store
