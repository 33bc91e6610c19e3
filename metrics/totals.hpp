// The workers' probes added up for one scrape. Used by registry only.
#pragma once

#include "metrics/histogram.hpp"
#include "metrics/probe.hpp"
#include "metrics/series.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace weir::metrics {

// Which series of a family have been shown. What comes after the limit is shown as "other", for
// good: a series that moved between its own name and "other" would make counters jump.
template <std::size_t N>
class admission {
public:
    [[nodiscard]] label_values<N> admit(const label_values<N>& labels, std::size_t limit) {
        if (seen_.contains(labels)) {
            return labels;
        }
        if (seen_.size() >= limit) {
            label_values<N> other;
            other.fill(std::string(overflow_label));
            return other;
        }
        seen_.insert(labels);
        return labels;
    }

private:
    std::set<label_values<N>> seen_;
};

struct admissions {
    std::size_t limit = default_series_limit;
    admission<2> queries;
    admission<2> clients;
    admission<2> waits;
    admission<3> pools;
    admission<3> routed;
    admission<1> staleness;
    admission<1> pins;
};

struct query_sum {
    std::array<std::uint64_t, query_kind_names.size()> by_kind{};
    histogram_sum seconds;
};

struct client_sum {
    std::array<std::int64_t, client_state_names.size()> states{};
    std::uint64_t transactions = 0;
};

struct pool_sum {
    std::array<std::int64_t, server_connection_state_names.size()> states{};
    std::int64_t waiting = 0;
};

template <class Sum, std::size_t N>
using sums = std::map<label_values<N>, Sum>;

struct totals {
    sums<query_sum, 2> queries;        // rule, server
    sums<client_sum, 2> clients;       // database, user
    sums<histogram_sum, 2> waits;      // cluster, server
    sums<pool_sum, 3> pools;           // cluster, server, database
    sums<std::uint64_t, 3> routed;     // rule, target, reason
    sums<histogram_sum, 1> staleness;  // rule
    sums<std::int64_t, 1> pins;        // reason
    sums<std::uint64_t, 2> errors;     // class, origin
    std::array<std::uint64_t, direction_names.size()> bytes{};
    std::uint64_t route_corrections = 0;
    std::uint64_t trait_cache_hits = 0;
    std::uint64_t trait_cache_misses = 0;
    std::int64_t trait_cache_bytes = 0;
    std::int64_t prepared = 0;
    std::uint64_t prepared_replays = 0;

    void add(const worker_probe& probe, admissions& admitted);
};

}  // namespace weir::metrics
