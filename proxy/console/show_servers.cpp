#include "proxy/console/commands.hpp"
#include "proxy/console/describe.hpp"
#include "proxy/console/gather.hpp"
#include "proxy/worker.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace weir::proxy::console {

namespace {

const char* state_of(const upstream::connection& which) {
    return which.being_canceled() ? "being_canceled" : upstream::to_string(which.state());
}

row describe(
    const upstream::connection& which,
    const upstream::pool_target& target,
    unsigned worker,
    steady_time now
) {
    const bool linked = which.state() == upstream::connection_state::linked;
    return {
        "S",
        target.user,
        target.database,
        state_of(which),
        which.who.host,
        number(which.who.port),
        wall_time(which.created, now),
        number(which.who.pid),
        which.out_ptr()->encrypted() ? "tls" : "",
        number(which.statements.size()),
        target.cluster->name,
        which.who.server,
        linked ? number(which.client_id()) : cell(),
        which.retired(),
        number(worker)};
}

std::vector<row> servers_of(worker& asked) {
    const auto now = worker::now();
    std::vector<row> rows;
    for (const auto& [key, pool] : asked.pools) {
        const auto target = pool->target();
        for (const auto* const each : pool->connections()) {
            rows.push_back(describe(*each, *target, asked.index, now));
        }
    }
    return rows;
}

}  // namespace

fields servers_columns(const tokens& arguments) {
    static_cast<void>(arguments);
    return {
        {"type"},
        {"user"},
        {"database"},
        {"state"},
        {"addr"},
        {"port", value_type::integer},
        {"connect_time"},
        {"remote_pid", value_type::integer},
        {"tls"},
        {"prepared_statements", value_type::integer},
        {"cluster"},
        {"server"},
        {"client_id", value_type::integer},
        {"close_needed", value_type::boolean},
        {"worker", value_type::integer}};
}

asio::awaitable<answer> show_servers(const request& what) {
    auto parts = co_await gather(what.home, what.home.shared.all, servers_of);
    if (!parts) {
        co_return incomplete();
    }
    answer made;
    for (auto& part : *parts) {
        std::move(part.begin(), part.end(), std::back_inserter(made.rows));
    }
    // By cluster, server, process.
    std::sort(made.rows.begin(), made.rows.end(), [](const row& left, const row& right) {
        return std::tie(left[10], left[11], left[7]) < std::tie(right[10], right[11], right[7]);
    });
    co_return made;
}

}  // namespace weir::proxy::console
