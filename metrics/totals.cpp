#include "metrics/totals.hpp"

namespace weir::metrics {
namespace {

void add_to(query_sum& sum, const query_probe& probe) {
    for (std::size_t i = 0; i < sum.by_kind.size(); ++i) {
        sum.by_kind[i] += probe.by_kind[i].value();
    }
    probe.seconds.add_to(sum.seconds);
}

void add_to(client_sum& sum, const client_probe& probe) {
    for (std::size_t i = 0; i < sum.states.size(); ++i) {
        sum.states[i] += probe.states[i].value();
    }
    sum.transactions += probe.transactions.value();
}

void add_to(pool_sum& sum, const pool_counts& counts) {
    for (std::size_t i = 0; i < sum.states.size(); ++i) {
        sum.states[i] += counts.states[i].value();
    }
    sum.waiting += counts.waiting.value();
}

void add_to(histogram_sum& sum, const histogram& one) {
    one.add_to(sum);
}

void add_to(std::uint64_t& sum, const counter& one) {
    sum += one.value();
}

void add_to(std::int64_t& sum, const gauge& one) {
    sum += one.value();
}

// Adds one worker's series to the sums, under the labels they may be shown with.
template <class Sum, class T, std::size_t N>
void fold(sums<Sum, N>& into, const series<T, N>& from, admission<N>& admitted, std::size_t limit) {
    from.each([&](const label_values<N>& labels, const T& value) {
        add_to(into[admitted.admit(labels, limit)], value);
    });
}

}  // namespace

void totals::add(const worker_probe& probe, admissions& admitted) {
    fold(queries, probe.queries_, admitted.queries, admitted.limit);
    fold(clients, probe.clients_, admitted.clients, admitted.limit);
    fold(waits, probe.waits_, admitted.waits, admitted.limit);
    fold(pools, probe.pools_, admitted.pools, admitted.limit);
    fold(routed, probe.routed_, admitted.routed, admitted.limit);
    fold(staleness, probe.staleness_, admitted.staleness, admitted.limit);
    fold(pins, probe.pins_, admitted.pins, admitted.limit);
    probe.errors_.each([this](const std::string& name, std::string_view origin, std::uint64_t n) {
        errors[{name, std::string(origin)}] += n;
    });
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] += probe.bytes_[i].value();
    }
    route_corrections += probe.route_corrections_.value();
    trait_cache_hits += probe.trait_cache_hits_.value();
    trait_cache_misses += probe.trait_cache_misses_.value();
    trait_cache_bytes += probe.trait_cache_bytes_.value();
    prepared += probe.prepared_.value();
    prepared_replays += probe.prepared_replays_.value();
}

}  // namespace weir::metrics
