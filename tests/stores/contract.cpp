#include "tests/stores/contract.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>

namespace weir::stores {

std::string fresh(std::string_view topic) {
    static std::atomic<unsigned> count = 0;
    static const auto start = std::chrono::system_clock::now().time_since_epoch().count();
    return "t-" + std::to_string(start) + "-" + std::to_string(getpid()) + "-" +
           std::to_string(++count) + "-" + std::string(topic);
}

store::layout table(std::size_t dimensions, store::metric metric) {
    store::layout made;
    made.key = {{"id", value_kind::integer, "bigint"}};
    made.attributes = {
        {"tenant", value_kind::integer, "bigint"},
        {"topic", value_kind::text, "text"},
        {"price", value_kind::real, "double precision"},
        {"seen", value_kind::timestamp, "timestamp with time zone"},
        {"ok", value_kind::boolean, "boolean"}};
    made.dimensions = dimensions;
    made.metric = metric;
    return made;
}

std::vector<float> embedding_of(std::int64_t id, std::size_t dimensions) {
    std::vector<float> made(dimensions);
    std::uint32_t state = static_cast<std::uint32_t>(id) * 2654435761U + 1;
    for (auto& each : made) {
        state = state * 1664525U + 1013904223U;
        each = static_cast<float>(state >> 8) / static_cast<float>(1U << 24) - 0.5F;
    }
    return made;
}

document row(std::int64_t id, version at, std::size_t dimensions) {
    document made;
    made.key = {id};
    made.embedding = embedding_of(id, dimensions);
    made.attributes = {
        std::int64_t{id % 3},
        "topic " + std::to_string(id),
        static_cast<double>(id) / 4,
        std::int64_t{1'790'000'000'000'000} + id,
        id % 2 == 0};
    made.version = at;
    return made;
}

int clear_all(store::store& at, const std::string& name, std::uint32_t part) {
    int calls = 1;
    while (must(at.clear(name, part))) {
        ++calls;
    }
    return calls;
}

stored one(store::store& at, const std::string& name, const key& wanted) {
    auto found = must(at.fetch(name, std::vector<key>{wanted}, everything));
    REQUIRE(found.size() <= 1);
    return found.empty() ? stored{} : std::move(found.front());
}

void check_same(
    const document& written,
    const stored& found,
    const store::abilities& able,
    bool half
) {
    CHECK(found.key == written.key);
    CHECK(found.attributes == written.attributes);
    CHECK(found.version == written.version);
    CHECK(found.part == written.part);
    REQUIRE(found.embedding.size() == written.embedding.size());
    double length = 1;
    if (able.normalises) {
        double sum = 0;
        for (const auto each : written.embedding) {
            sum += static_cast<double>(each) * static_cast<double>(each);
        }
        length = std::sqrt(sum);
    }
    const double precision = half ? 1e-3 : able.normalises ? 1e-6 : 0;
    double worst = 0;
    for (std::size_t i = 0; i < written.embedding.size(); ++i) {
        const auto wanted = static_cast<double>(written.embedding[i]) / length;
        worst = std::max(worst, std::abs(wanted - static_cast<double>(found.embedding[i])));
    }
    CHECK(worst <= precision);
}

}  // namespace weir::stores
