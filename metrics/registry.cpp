#include "metrics/registry.hpp"

#include "metrics/families.hpp"
#include "metrics/totals.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace weir::metrics {

using prometheus::MetricType;

namespace {

using families = std::vector<prometheus::MetricFamily>;

double number(std::uint64_t n) {
    return static_cast<double>(n);
}

double number(std::int64_t n) {
    return static_cast<double>(n);
}

void show(families& out, const sums<query_sum, 2>& queries) {
    family total("pgweir_queries_total", "Queries answered.", MetricType::Counter);
    family seconds(
        "pgweir_query_seconds",
        "Time from a complete query to the end of its answer.",
        MetricType::Histogram
    );
    for (const auto& [labels, sum] : queries) {
        for (std::size_t kind = 0; kind < sum.by_kind.size(); ++kind) {
            total.add(
                {{"rule", labels[0]},
                 {"server", labels[1]},
                 {"kind", std::string(query_kind_names[kind])}},
                number(sum.by_kind[kind])
            );
        }
        seconds.add({{"rule", labels[0]}, {"server", labels[1]}}, sum.seconds);
    }
    out.push_back(std::move(total).take());
    out.push_back(std::move(seconds).take());
}

void show(families& out, const sums<client_sum, 2>& clients) {
    family states("pgweir_clients", "Client connections by what they do.", MetricType::Gauge);
    family transactions(
        "pgweir_transactions_total",
        "Transactions ended, single statements included.",
        MetricType::Counter
    );
    for (const auto& [labels, sum] : clients) {
        for (std::size_t state = 0; state < sum.states.size(); ++state) {
            states.add(
                {{"database", labels[0]},
                 {"user", labels[1]},
                 {"state", std::string(client_state_names[state])}},
                number(sum.states[state])
            );
        }
        transactions.add({{"database", labels[0]}, {"user", labels[1]}}, number(sum.transactions));
    }
    out.push_back(std::move(states).take());
    out.push_back(std::move(transactions).take());
}

void show(families& out, const sums<pool_sum, 3>& pools) {
    family states(
        "pgweir_server_connections",
        "Connections to servers by what they do.",
        MetricType::Gauge
    );
    family waiting(
        "pgweir_pool_waiting",
        "Clients queueing for a server connection.",
        MetricType::Gauge
    );
    for (const auto& [labels, sum] : pools) {
        const label_list pool{
            {"cluster", labels[0]},
            {"server", labels[1]},
            {"database", labels[2]}};
        for (std::size_t state = 0; state < sum.states.size(); ++state) {
            auto with_state = pool;
            with_state.emplace_back("state", server_connection_state_names[state]);
            states.add(with_state, number(sum.states[state]));
        }
        waiting.add(pool, number(sum.waiting));
    }
    out.push_back(std::move(states).take());
    out.push_back(std::move(waiting).take());
}

void show(families& out, const std::vector<server_sample>& servers) {
    family up("pgweir_server_up", "1 if the last probe got an answer.", MetricType::Gauge);
    family lag(
        "pgweir_replica_lag_seconds",
        "How long ago the primary stood where the replica stands.",
        MetricType::Gauge
    );
    family bytes(
        "pgweir_replica_lag_bytes",
        "WAL the replica has yet to replay.",
        MetricType::Gauge
    );
    family weight(
        "pgweir_replica_weight",
        "Weight in the draw of a replica for a read, 0 when shut out.",
        MetricType::Gauge
    );
    for (const auto& one : servers) {
        const label_list labels{
            {"cluster", clean_label(one.cluster)},
            {"server", clean_label(one.server)}};
        auto with_role = labels;
        with_role.emplace_back("role", clean_label(one.role));
        up.add(with_role, one.up ? 1.0 : 0.0);
        if (one.measured) {
            lag.add(labels, one.lag_seconds);
            bytes.add(labels, number(one.lag_bytes));
            weight.add(labels, one.weight);
        }
    }
    out.push_back(std::move(up).take());
    out.push_back(std::move(lag).take());
    out.push_back(std::move(bytes).take());
    out.push_back(std::move(weight).take());
}

void show_single(families& out, family one, double value) {
    one.add({}, value);
    out.push_back(std::move(one).take());
}

template <std::size_t N>
label_list labelled(const std::array<std::string_view, N>& names, const label_values<N>& values) {
    label_list labels;
    for (std::size_t i = 0; i < N; ++i) {
        labels.emplace_back(names[i], values[i]);
    }
    return labels;
}

// One histogram per label set.
template <std::size_t N>
void show_histograms(
    families& out,
    family shown,
    const std::array<std::string_view, N>& names,
    const sums<histogram_sum, N>& all
) {
    for (const auto& [values, sum] : all) {
        shown.add(labelled(names, values), sum);
    }
    out.push_back(std::move(shown).take());
}

// One number per label set.
template <std::size_t N, class Sum>
void show_numbers(
    families& out,
    family shown,
    const std::array<std::string_view, N>& names,
    const sums<Sum, N>& all
) {
    for (const auto& [values, sum] : all) {
        shown.add(labelled(names, values), number(sum));
    }
    out.push_back(std::move(shown).take());
}

void show_routing(families& out, const totals& sum) {
    show_numbers<3>(
        out,
        {"pgweir_routed_total",
         "Decisions of the router by rule, kind of server chosen and reason.",
         MetricType::Counter},
        {"rule", "target", "reason"},
        sum.routed
    );
    show_histograms<1>(
        out,
        {"pgweir_staleness_served_seconds",
         "Proven staleness of the replica at the time it was given a read.",
         MetricType::Histogram},
        {"rule"},
        sum.staleness
    );
    show_single(
        out,
        {"pgweir_route_corrections_total",
         "Reads a replica refused that were run again on the primary.",
         MetricType::Counter},
        number(sum.route_corrections)
    );
    // The design names these two without "_total"; a counter type would contradict the name.
    show_single(
        out,
        {"pgweir_trait_cache_hits", "Statements found in the trait cache.", MetricType::Untyped},
        number(sum.trait_cache_hits)
    );
    show_single(
        out,
        {"pgweir_trait_cache_misses", "Statements that had to be parsed.", MetricType::Untyped},
        number(sum.trait_cache_misses)
    );
    show_single(
        out,
        {"pgweir_trait_cache_bytes", "Memory the trait cache holds.", MetricType::Gauge},
        number(sum.trait_cache_bytes)
    );
}

void show_sessions(families& out, const totals& sum) {
    show_histograms<2>(
        out,
        {"pgweir_wait_seconds",
         "Time a client queued for a server connection, 0 included.",
         MetricType::Histogram},
        {"cluster", "server"},
        sum.waits
    );
    show_numbers<1>(
        out,
        {"pgweir_pins", "Clients that hold on to one server connection.", MetricType::Gauge},
        {"reason"},
        sum.pins
    );
    show_numbers<2>(
        out,
        {"pgweir_errors_total", "Errors by SQLSTATE class.", MetricType::Counter},
        {"class", "origin"},
        sum.errors
    );
    family bytes("pgweir_bytes_total", "Bytes read and written.", MetricType::Counter);
    for (std::size_t way = 0; way < sum.bytes.size(); ++way) {
        bytes.add({{"direction", std::string(direction_names[way])}}, number(sum.bytes[way]));
    }
    out.push_back(std::move(bytes).take());
    show_single(
        out,
        {"pgweir_prepared_statements", "Statements kept on server connections.", MetricType::Gauge},
        number(sum.prepared)
    );
    show_single(
        out,
        {"pgweir_prepared_replays_total",
         "Statements prepared again on another server connection.",
         MetricType::Counter},
        number(sum.prepared_replays)
    );
}

}  // namespace

registry::registry(registry_options options)
    : options_(std::move(options)), admitted_(std::make_unique<admissions>()) {
    admitted_->limit = options_.series_limit;
}

registry::~registry() = default;

void registry::add(std::shared_ptr<const worker_probe> probe) {
    const std::lock_guard lock(mutex_);
    probes_.push_back(std::move(probe));
}

std::vector<prometheus::MetricFamily> registry::Collect() const {
    const std::lock_guard lock(mutex_);
    totals sum;
    for (const auto& probe : probes_) {
        sum.add(*probe, *admitted_);
    }
    families out;
    family build("pgweir_build_info", "1, labelled with the version.", MetricType::Gauge);
    build.add({{"version", clean_label(options_.version)}}, 1.0);
    out.push_back(std::move(build).take());
    show(out, sum.clients);
    show(out, sum.pools);
    show(out, sum.queries);
    show_sessions(out, sum);
    show_routing(out, sum);
    if (options_.topology) {
        show(out, options_.topology());
    }
    if (options_.migrations) {
        show(out, options_.migrations());
    }
    return out;
}

std::string registry::text() const {
    return prometheus::TextSerializer().Serialize(Collect());
}

}  // namespace weir::metrics
