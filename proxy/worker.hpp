// One thread with one loop: its clients, its pools, its caches. Only post() and the constructor may
// be used from other threads.
#pragma once

#include "metrics/probe.hpp"
#include "proxy/client/classifier.hpp"
#include "proxy/client/login.hpp"
#include "proxy/cluster_view.hpp"
#include "proxy/shared.hpp"
#include "proxy/upstream/pool.hpp"
#include "proxy/worker_context.hpp"
#include "routing/random.hpp"
#include "routing/router.hpp"
#include "routing/rules.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weir::proxy {

namespace client {
class session;
}

// What a client has to show to cancel: both halves of BackendKeyData.
struct cancel_key {
    std::uint32_t pid = 0;
    std::uint32_t secret = 0;
    friend bool operator==(const cancel_key&, const cancel_key&) = default;
};

struct cancel_key_hash {
    [[nodiscard]] std::size_t operator()(const cancel_key& key) const noexcept {
        return (static_cast<std::size_t>(key.pid) << 32U) ^ key.secret;
    }
};

// Everything a database name leads to.
struct database_route {
    cluster_view* cluster = nullptr;  // null: no such database
    std::string server_database;
    config::pool_mode mode = config::pool_mode::transaction;
};

class worker : public worker_context {
public:
    worker(
        unsigned number,
        config_ptr from,
        std::shared_ptr<const tls_contexts> contexts,
        shared_state& with
    );
    ~worker();

    void start();

    // Any thread: `what` runs on the worker's.
    template <class F>
    void post(F&& what) {
        asio::post(io, std::forward<F>(what));
    }

    // Any thread. No new clients; sessions end when their transaction does, or at once. run()
    // returns afterwards.
    void stop(bool at_once);
    void join();

    // The rest: the worker's thread only.
    [[nodiscard]] database_route find_database(std::string_view name);
    [[nodiscard]] upstream::pool& pool_of(
        cluster_view& cluster,
        std::size_t server,
        const std::string& database,
        const std::string& user
    );
    [[nodiscard]] database_view& catalog_of(cluster_view& cluster, const std::string& database);
    [[nodiscard]] std::string secret_of(const std::string& user) const;

    void publish_topology(const std::string& cluster, routing::topology_ptr fresh);
    void publish_catalog(
        const std::string& cluster,
        const std::string& database,
        routing::catalog_ptr fresh
    );
    void reload(config_ptr fresh, std::shared_ptr<const tls_contexts> contexts);

    [[nodiscard]] cancel_key add_session(client::session& added);
    void remove_session(client::session& gone, const cancel_key& key);
    [[nodiscard]] client::session* find_session(const cancel_key& key);

    void serve_socket(socket&& accepted, client::peer_address address);

    // worker_routing.cpp: what the router is asked with and what is counted.
    [[nodiscard]] static steady_time now() { return std::chrono::steady_clock::now(); }

    [[nodiscard]] settings_ptr overlay_of(const routing::policy& rule);
    [[nodiscard]] metrics::query_probe&
    query_probe(const cluster_view& cluster, const routing::route& chosen);
    void count_route(const cluster_view& cluster, const routing::route& chosen);
    void count_query(metrics::query_probe* which, metrics::query_kind kind, steady_time sent);
    void in_flight(cluster_view& cluster, std::size_t server, int change);
    void server_failed(cluster_view& cluster, std::size_t server);
    [[nodiscard]] static bool has_replicas(const cluster_view& cluster);

    shared_state& shared;
    client::classifier classifier;
    std::shared_ptr<const routing::rule_set> rules;
    std::shared_ptr<const routing::function_list> safe_functions;
    routing::random_source random;
    std::map<std::string, std::unique_ptr<cluster_view>, std::less<>> clusters;
    std::map<
        std::tuple<const cluster_view*, std::size_t, std::string, std::string>,
        std::unique_ptr<upstream::pool>>
        pools;
    std::unordered_set<client::session*> sessions;
    // What a server told clients of (database, user) with these start-up settings: a log-in needs
    // no server then.
    std::map<std::tuple<std::string, std::string, settings_ptr>, parameters_ptr> welcomes;
    std::uint64_t next_unnamed = 1;

private:
    void listen();
    asio::awaitable<void> accept_tcp();
    asio::awaitable<void> accept_unix();
    asio::awaitable<void> janitor();
    void tick();
    void build_views();
    void use_cluster(cluster_view& view, const config::cluster& from);
    void begin_stop(bool at_once);
    void stop_if_done();

    asio::executor_work_guard<asio::io_context::executor_type> work_;
    asio::ip::tcp::acceptor tcp_;
    std::unique_ptr<asio::basic_socket_acceptor<asio::generic::stream_protocol>> unix_;
    asio::steady_timer timer_;
    std::unordered_map<cancel_key, client::session*, cancel_key_hash> keys_;
    std::vector<std::unique_ptr<upstream::pool>>
        retired_;  // of servers that left; until their clients have let go
    std::map<const routing::policy*, settings_ptr> overlays_;
    std::map<
        std::tuple<const routing::policy*, const cluster_view*, std::size_t>,
        metrics::query_probe*>
        query_probes_;
    std::map<
        std::tuple<const routing::policy*, std::size_t, routing::route_reason>,
        metrics::counter*>
        route_counters_;
    std::map<const routing::policy*, metrics::histogram*> staleness_;
    unsigned next_worker_ = 0;  // for Unix sockets, which worker 0 hands out
    std::int64_t prepared_counted_ = 0;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace weir::proxy
