#include "migration/store/removals.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

namespace weir::migration::store {
namespace {

version at(std::uint64_t lsn, std::uint32_t ordinal = 0) {
    return {.timeline = 1, .lsn = lsn, .ordinal = ordinal};
}

TEST_CASE("removals of old documents are one request") {
    std::vector<aged> all;
    for (std::size_t i = 0; i < 1000; ++i) {
        all.push_back({i, at(10 + i), at(5000, static_cast<std::uint32_t>(i))});
    }
    const auto requests = removal_requests(all);
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].limit == at(5000, 0));
    CHECK(requests[0].indexes.size() == 1000);
}

TEST_CASE("newer documents are in no request") {
    CHECK(removal_requests({}).empty());
    CHECK(removal_requests({{0, at(11), at(10)}, {1, at(10, 2), at(10, 1)}}).empty());
    CHECK(removal_requests({{0, at(10, 1), at(10, 1)}}).size() == 1);
}

// The least number of points that meets all intervals, by trying subsets of their ends.
std::size_t least_points(const std::vector<aged>& all) {
    for (std::size_t wanted = 0;; ++wanted) {
        for (unsigned subset = 0; subset < 1U << all.size(); ++subset) {
            if (static_cast<std::size_t>(__builtin_popcount(subset)) != wanted) {
                continue;
            }
            const bool met = std::all_of(all.begin(), all.end(), [&](const aged& each) {
                for (std::size_t i = 0; i < all.size(); ++i) {
                    const auto point = all[i].limit;
                    if ((subset >> i & 1) != 0 && each.found <= point && point <= each.limit) {
                        return true;
                    }
                }
                return false;
            });
            if (met) {
                return wanted;
            }
        }
    }
}

TEST_CASE("each removal is in one request between its versions and there are no fewer requests") {
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
        std::vector<aged> all;
        for (std::size_t i = 0; i < 9; ++i) {
            all.push_back({i, at(random() % 12), at(random() % 12, random() % 2)});
        }
        std::vector<aged> old;
        for (const auto& each : all) {
            if (each.found <= each.limit) {
                old.push_back(each);
            }
        }
        const auto requests = removal_requests(all);
        std::set<std::size_t> seen;
        for (const auto& request : requests) {
            for (const auto index : request.indexes) {
                CHECK(seen.insert(index).second);
                CHECK(all[index].found <= request.limit);
                CHECK(request.limit <= all[index].limit);
            }
        }
        CHECK(seen.size() == old.size());
        CHECK(requests.size() == least_points(old));
    }
}

}  // namespace
}  // namespace weir::migration::store
