#include "proxy/console/commands.hpp"
#include "proxy/console/describe.hpp"
#include "proxy/worker.hpp"

#include <chrono>
#include <cmath>

namespace weir::proxy::console {

namespace {

double total_weight(const routing::topology& cluster) {
    double total = 0;
    for (const auto& each : cluster.servers) {
        total += each.weight;
    }
    return total;
}

double rounded(double value, double steps) {
    return std::round(value * steps) / steps;
}

cell milliseconds_of(steady_time::duration time) {
    return number(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

row describe(
    const routing::topology& cluster,
    const routing::server_state& server,
    double total,
    steady_time now
) {
    const bool sampled = server.sampled != steady_time{};
    const bool replica = server.role == routing::server_role::replica;
    const double share = total > 0 ? 100 * server.weight / total : 0;
    return {
        cluster.cluster,
        server.name,
        server.host,
        number(server.port),
        std::string(routing::name_of(server.role)),
        server.up,
        replica || !sampled ? text_or_null(std::string(routing::name_of(server.excluded))) : cell(),
        sampled && replica ? number(server.lag.count()) : cell(),
        sampled && replica ? number(server.lag_bytes) : cell(),
        rounded(server.weight, 1000),
        rounded(share, 10),
        sampled ? number(server.timeline.value) : cell(),
        sampled ? cell(routing::to_string(server.replayed)) : cell(),
        sampled ? milliseconds_of(now - server.sampled) : cell(),
        text_or_null(server.error)};
}

}  // namespace

// share: per cent of the reads that any replica may serve. replayed: of a primary, its insert
// position.
fields topology_columns(const tokens& arguments) {
    static_cast<void>(arguments);
    return {
        {"cluster"},
        {"server"},
        {"host"},
        {"port", value_type::integer},
        {"role"},
        {"up", value_type::boolean},
        {"excluded"},
        {"lag_ms", value_type::integer},
        {"lag_bytes", value_type::integer},
        {"weight", value_type::real},
        {"share", value_type::real},
        {"timeline", value_type::integer},
        {"replayed"},
        {"sample_age_ms", value_type::integer},
        {"error"}};
}

// Every worker holds the same snapshot, so the home worker's will do.
asio::awaitable<answer> show_topology(const request& what) {
    const auto now = worker::now();
    answer made;
    for (const auto& [name, view] : what.home.clusters) {
        const auto& cluster = *view->topology;
        const double total = total_weight(cluster);
        for (const auto& server : cluster.servers) {
            made.rows.push_back(describe(cluster, server, total, now));
        }
    }
    co_return made;
}

}  // namespace weir::proxy::console
