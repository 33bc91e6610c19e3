// What a worker's sessions ask when they route, and what is counted about it.
#include "proxy/worker.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy {

settings_ptr worker::overlay_of(const routing::policy& rule) {
    const auto found = overlays_.find(&rule);
    if (found != overlays_.end()) {
        return found->second;
    }
    settings_ptr made;
    for (const auto& [name, value] : *rule.settings) {
        made = settings.with(made, make_setting_from_text(name, value));
    }
    overlays_[&rule] = made;
    return made;
}

metrics::query_probe&
worker::query_probe(const cluster_view& cluster, const routing::route& chosen) {
    auto& found = query_probes_[{chosen.rule, &cluster, chosen.server}];
    if (found == nullptr) {
        found = &probe.query(chosen.rule->name, cluster.config->servers[chosen.server].name);
    }
    return *found;
}

void worker::count_route(const cluster_view& cluster, const routing::route& chosen) {
    const bool primary = chosen.server == cluster.topology->primary;
    auto& found = route_counters_[{chosen.rule, primary ? 1U : 0U, chosen.reason}];
    if (found == nullptr) {
        found = &probe.routed(
            chosen.rule->name,
            primary ? "primary" : "replica",
            routing::name_of(chosen.reason)
        );
    }
    found->add();
    if (chosen.consistency.level == config::consistency_level::strong) {
        return;
    }
    auto& served = staleness_[chosen.rule];
    if (served == nullptr) {
        served = &probe.staleness(chosen.rule->name);
    }
    served->observe(chosen.staleness);
}

void worker::count_query(metrics::query_probe* which, metrics::query_kind kind, steady_time sent) {
    if (which != nullptr && sent != steady_time{}) {
        which->finished(kind, now() - sent);
    }
}

void worker::in_flight(cluster_view& cluster, std::size_t server, int change) {
    if (server < cluster.loads.size()) {
        auto& load = cluster.loads[server];
        load.in_flight =
            change > 0 ? load.in_flight + 1 : load.in_flight - std::min(load.in_flight, 1U);
    }
}

void worker::server_failed(cluster_view& cluster, std::size_t server) {
    if (server != routing::no_server && shared.suspect) {
        shared.suspect(cluster.config->name, server);
    }
}

bool worker::has_replicas(const cluster_view& cluster) {
    return cluster.topology->servers.size() > 1;
}

}  // namespace weir::proxy
