#include "proxy/client/session.hpp"
#include "proxy/console/commands.hpp"
#include "proxy/console/describe.hpp"
#include "proxy/console/gather.hpp"
#include "proxy/worker.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>

namespace weir::proxy::console {

namespace {

// One pool over all workers.
struct sums {
    upstream::pool_counts counts;
    std::uint32_t canceled = 0;
    std::uint32_t pinned = 0;
    std::uint32_t size = 0;
    std::string last_error;
};

using by_pool = std::map<pool_key, sums>;

std::unordered_set<std::uint64_t> pinned_clients(const worker& asked) {
    std::unordered_set<std::uint64_t> found;
    for (const auto* const each : asked.sessions) {
        const auto client = each->describe();
        if (client.pinned != routing::pin_reason::none && client.server_pid != 0) {
            found.insert(client.id);
        }
    }
    return found;
}

by_pool pools_of(worker& asked) {
    const auto pinned = pinned_clients(asked);
    by_pool found;
    for (const auto& [key, pool] : asked.pools) {
        const auto target = pool->target();
        const auto& server = target->cluster->servers[target->server].name;
        auto& made = found[{target->cluster->name, server, target->database, target->user}];
        made.counts = pool->counts();
        made.size = target->cluster->pool.size;
        if (const auto& failure = pool->last_failure()) {
            made.last_error = failure->diagnostic ? failure->diagnostic->message : failure->context;
        }
        for (const auto* const each : pool->connections()) {
            made.canceled += each->being_canceled() ? 1 : 0;
            made.pinned += pinned.contains(each->client_id()) ? 1 : 0;
        }
    }
    return found;
}

void add(sums& to, const sums& more) {
    to.counts.idle += more.counts.idle;
    to.counts.active += more.counts.active;
    to.counts.connecting += more.counts.connecting;
    to.counts.cleaning += more.counts.cleaning;
    to.counts.waiting += more.counts.waiting;
    to.counts.oldest_wait = std::max(to.counts.oldest_wait, more.counts.oldest_wait);
    to.canceled += more.canceled;
    to.pinned += more.pinned;
    to.size = more.size;
    if (to.last_error.empty()) {
        to.last_error = more.last_error;
    }
}

// Of the first database that leads to the pool.
std::string
mode_of(const config::config& from, const std::string& cluster, const std::string& database) {
    for (const auto& each : from.databases) {
        const auto& own = each.server_database.empty() ? each.name : each.server_database;
        if (each.cluster == cluster && (own == database || own == "*")) {
            return each.pool_mode == config::pool_mode::session ? "session" : "transaction";
        }
    }
    return "transaction";
}

row describe(const pool_key& key, const sums& pool, const config::config& from) {
    const auto& [cluster, server, database, user] = key;
    const auto wait = wait_of(pool.counts.oldest_wait);
    return {
        database,
        user,
        number(pool.counts.active),
        number(pool.counts.waiting),
        number(pool.counts.active),
        number(pool.canceled),
        number(pool.counts.idle),
        number(pool.counts.cleaning),
        number(pool.counts.connecting),
        number(wait.seconds),
        number(wait.microseconds),
        mode_of(from, cluster, database),
        cluster,
        server,
        number(pool.pinned),
        number(pool.size),
        text_or_null(pool.last_error)};
}

}  // namespace

// cl_active are the clients that hold a connection of the pool; those that hold none belong to no
// server. sv_used are being cleaned.
fields pools_columns(const tokens& arguments) {
    static_cast<void>(arguments);
    return {
        {"database"},
        {"user"},
        {"cl_active", value_type::integer},
        {"cl_waiting", value_type::integer},
        {"sv_active", value_type::integer},
        {"sv_being_canceled", value_type::integer},
        {"sv_idle", value_type::integer},
        {"sv_used", value_type::integer},
        {"sv_login", value_type::integer},
        {"maxwait", value_type::integer},
        {"maxwait_us", value_type::integer},
        {"pool_mode"},
        {"cluster"},
        {"server"},
        {"pinned", value_type::integer},
        {"pool_size", value_type::integer},
        {"last_error"}};
}

asio::awaitable<answer> show_pools(const request& what) {
    const auto parts = co_await gather(what.home, what.home.shared.all, pools_of);
    if (!parts) {
        co_return incomplete();
    }
    by_pool total;
    for (const auto& part : *parts) {
        for (const auto& [key, pool] : part) {
            add(total[key], pool);
        }
    }
    answer made;
    for (const auto& [key, pool] : total) {
        made.rows.push_back(describe(key, pool, *what.home.config));
    }
    co_return made;
}

}  // namespace weir::proxy::console
