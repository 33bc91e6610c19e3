#include "proxy/worker.hpp"

#include "proxy/client/session.hpp"
#include "proxy/random_bytes.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <utility>

namespace weir::proxy {
namespace {

using namespace std::chrono_literals;

constexpr auto tick_interval = 100ms;

std::uint64_t seed_from_system() {
    std::random_device device;
    return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace

worker::worker(
    unsigned number,
    config_ptr from,
    std::shared_ptr<const tls_contexts> contexts,
    shared_state& with
)
    : worker_context(number, std::move(from)),
      shared(with),
      classifier(
          static_cast<std::size_t>(config->routing.trait_cache_bytes / with.workers()),
          config->routing.max_parse_bytes,
          probe
      ),
      random(seed_from_system()),
      work_(asio::make_work_guard(io)),
      tcp_(io),
      timer_(io) {
    tls = std::move(contexts);
    build_views();
}

worker::~worker() {
    // Only where another part could not be started: the thread still runs.
    io.stop();
    join();
}

void worker::build_views() {
    rules = std::make_shared<const routing::rule_set>(config->routing);
    safe_functions = std::make_shared<const routing::function_list>(config->routing.safe_functions);
    for (const auto& cluster : config->clusters) {
        auto& view = clusters[cluster.name];
        if (!view) {
            view = std::make_unique<cluster_view>();
        }
        use_cluster(*view, cluster);
    }
}

void worker::use_cluster(cluster_view& view, const config::cluster& from) {
    view.config = std::make_shared<const config::cluster>(from);
    view.loads.assign(from.servers.size(), {});
    auto unknown = std::make_shared<routing::topology>();
    unknown->cluster = from.name;
    for (const auto& server : from.servers) {
        routing::server_state state;
        state.name = server.name;
        state.host = server.host;
        state.port = server.port;
        unknown->servers.push_back(std::move(state));
    }
    view.topology = std::move(unknown);
    for (auto& [name, database] : view.databases) {
        database.requested = false;   // of the loader that is there now
        database.judgements.clear();  // safe_functions may be others
    }
}

void worker::start() {
    listen();
    asio::co_spawn(io, janitor(), asio::detached);
    thread_ = std::thread([this] { io.run(); });
}

void worker::stop(bool at_once) {
    post([this, at_once] { begin_stop(at_once); });
}

void worker::join() {
    if (thread_.joinable()) {
        thread_.join();
    }
}

asio::awaitable<void> worker::janitor() {
    while (!io.stopped()) {
        timer_.expires_after(tick_interval);
        const auto [timer_ec] = co_await timer_.async_wait(use_tuple);
        if (timer_ec) {
            co_return;
        }
        tick();
    }
}

void worker::tick() {
    coarse_now = now();
    std::int64_t prepared = 0;
    for (const auto& [key, pool] : pools) {
        pool->tick(coarse_now);
        prepared += pool->prepared_statements();
    }
    probe.prepared_statements(prepared - std::exchange(prepared_counted_, prepared));
    for (const auto& pool : retired_) {
        pool->tick(coarse_now);
    }
    std::erase_if(retired_, [](const auto& pool) { return pool->finished(); });
    const auto all = sessions;
    for (auto* const each : all) {
        each->tick(coarse_now);
    }
    stop_if_done();
}

void worker::begin_stop(bool at_once) {
    stopping_ = true;
    error_code ignored;
    tcp_.close(ignored);
    if (unix_) {
        unix_->close(ignored);
    }
    const auto all = sessions;
    for (auto* const each : all) {
        if (at_once) {
            each->kill({errc::shutting_down, {}, std::nullopt});
        } else {
            each->stop_when_idle();
        }
    }
    stop_if_done();
}

void worker::stop_if_done() {
    if (!stopping_ || !sessions.empty()) {
        return;
    }
    for (const auto& [key, pool] : pools) {
        pool->retire_all();
    }
    work_.reset();
    io.stop();
}

database_route worker::find_database(std::string_view name) {
    const config::database* found = nullptr;
    for (const auto& entry : config->databases) {
        if (entry.name == name) {
            found = &entry;
            break;
        }
        if (entry.name == "*") {
            found = &entry;
        }
    }
    if (found == nullptr) {
        return {};
    }
    const auto cluster = clusters.find(found->cluster);
    return {
        cluster == clusters.end() ? nullptr : cluster->second.get(),
        found->server_database.empty() ? std::string(name) : found->server_database,
        found->pool_mode};
}

std::string worker::secret_of(const std::string& user) const {
    const auto found =
        std::find_if(config->users.begin(), config->users.end(), [&](const config::user& u) {
            return u.name == user;
        });
    return found == config->users.end() ? std::string{} : found->secret;
}

upstream::pool& worker::pool_of(
    cluster_view& cluster,
    std::size_t server,
    const std::string& database,
    const std::string& user
) {
    auto& found = pools[{&cluster, server, database, user}];
    if (!found) {
        const auto& limits = cluster.config->pool;
        auto budget = shared.budget_of(
            {cluster.config->name, cluster.config->servers[server].name, database, user},
            limits.size
        );
        found = std::make_unique<upstream::pool>(
            *this,
            upstream::pool_target{cluster.config, server, database, user, secret_of(user)},
            limits,
            std::move(budget)
        );
    }
    return *found;
}

database_view& worker::catalog_of(cluster_view& cluster, const std::string& database) {
    auto& view = cluster.databases[database];
    if (!std::exchange(view.requested, true) && shared.want_catalog) {
        shared.want_catalog(cluster.config->name, database);
    }
    return view;
}

void worker::publish_topology(const std::string& cluster, routing::topology_ptr fresh) {
    const auto found = clusters.find(cluster);
    // A snapshot of the servers before a reload may still be on its way.
    if (found == clusters.end() || fresh->servers.size() != found->second->config->servers.size()) {
        return;
    }
    auto& view = *found->second;
    const auto before = std::exchange(view.topology, fresh);
    for (const auto& [key, pool] : pools) {
        // Who waits for a server that is down, or is the primary no more, chooses again.
        const auto& [of, server, database, user] = key;
        if (of == &view && server < before->servers.size() &&
            ((before->servers[server].up && !fresh->servers[server].up) ||
             (before->primary == server && fresh->primary != server))) {
            pool->send_away({errc::server_lost, fresh->servers[server].name, std::nullopt});
        }
    }
    view.publish(std::move(fresh));
}

void worker::publish_catalog(
    const std::string& cluster,
    const std::string& database,
    routing::catalog_ptr fresh
) {
    const auto found = clusters.find(cluster);
    if (found != clusters.end()) {
        found->second->databases[database].catalog = std::move(fresh);
    }
}

void worker::reload(config_ptr fresh, std::shared_ptr<const tls_contexts> contexts) {
    const auto before = std::exchange(config, std::move(fresh));
    tls = std::move(contexts);
    rules = std::make_shared<const routing::rule_set>(config->routing);
    safe_functions = std::make_shared<const routing::function_list>(config->routing.safe_functions);
    overlays_.clear();
    query_probes_.clear();
    route_counters_.clear();
    staleness_.clear();
    welcomes.clear();
    for (auto& [key, pool] : pools) {
        pool->retire_all();
        retired_.push_back(std::move(pool));
    }
    pools.clear();
    build_views();
    for (auto* const each : sessions) {
        each->servers_changed();
    }
}

cancel_key worker::add_session(client::session& added) {
    sessions.insert(&added);
    shared.clients.fetch_add(1, std::memory_order_relaxed);
    for (;;) {
        cancel_key key;
        const auto bytes = random_bytes(sizeof key);
        if (!bytes) {
            throw std::runtime_error("no random bytes to be had for a cancel key");
        }
        std::memcpy(&key, bytes->data(), sizeof key);
        if (key.secret != 0 && keys_.try_emplace(key, &added).second) {
            return key;
        }
    }
}

void worker::remove_session(client::session& gone, const cancel_key& key) {
    sessions.erase(&gone);
    keys_.erase(key);
    shared.clients.fetch_sub(1, std::memory_order_relaxed);
}

client::session* worker::find_session(const cancel_key& key) {
    const auto found = keys_.find(key);
    return found == keys_.end() ? nullptr : found->second;
}

}  // namespace weir::proxy
