#include "proxy/server.hpp"

#include "config/diff.hpp"
#include "metrics/registry.hpp"
#include "migration/supervisor.hpp"
#include "proxy/catalog_loader.hpp"
#include "proxy/http/server.hpp"
#include "proxy/monitor.hpp"
#include "proxy/shared.hpp"
#include "proxy/worker.hpp"
#include "routing/sql_parser.hpp"
#include "routing/topology.hpp"

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

namespace weir::proxy {
namespace {

using namespace std::chrono_literals;

// After SIGTERM transactions may finish for this long.
constexpr auto drain_time = 60s;

metrics::server_sample
sample_of(const routing::topology& cluster, const routing::server_state& server) {
    metrics::server_sample made;
    made.cluster = cluster.cluster;
    made.server = server.name;
    switch (server.role) {
    case routing::server_role::primary: made.role = "primary"; break;
    case routing::server_role::replica: made.role = "replica"; break;
    case routing::server_role::unknown: made.role = "unknown"; break;
    }
    made.up = server.up;
    made.measured =
        server.role == routing::server_role::replica && server.sampled != routing::steady_time{};
    made.lag_seconds = std::chrono::duration<double>(server.lag).count();
    made.lag_bytes = server.lag_bytes;
    made.weight = server.weight;
    return made;
}

}  // namespace

// Everything here belongs to the control thread, the workers' insides and `shared` apart.
struct server::parts {
    parts(std::shared_ptr<const config::config> from, reader reread_with)
        : config(std::move(from)),
          reread(std::move(reread_with)),
          shared(worker_count(*config)),
          signals(control),
          drain(control),
          registry(
              {.version = WEIR_VERSION,
               .topology = [this] { return samples(); },
               .migrations = [this] { return migration_samples(); }}
          ),
          http(
              control,
              {.metrics = [this] { return registry.text(); }, .ready = [this] { return ready(); }}
          ) {}

    static unsigned worker_count(const config::config& from) {
        return from.workers != 0 ? from.workers : std::max(1U, std::thread::hardware_concurrency());
    }

    struct watched {
        std::unique_ptr<proxy::monitor> monitor;
        std::unique_ptr<proxy::catalog_loader> catalogs;
        routing::topology_ptr topology;
    };

    std::shared_ptr<const config::config> config;
    reader reread;
    asio::io_context control{1};
    shared_state shared;
    std::vector<std::unique_ptr<worker>> workers;
    std::map<std::string, watched, std::less<>> clusters;
    asio::signal_set signals;
    asio::steady_timer drain;
    metrics::registry registry;
    http_server http;
    std::unique_ptr<migration::supervisor> migrations;
    bool stopping = false;
    std::thread joiner;

    void start();
    void start_migrations();
    void watch(const config::cluster& cluster, routing::topology_ptr previous);
    void await_signal();
    void stop(bool at_once);
    void apply(std::shared_ptr<const config::config> fresh, std::vector<std::string>& lines);
    void reload(const std::function<void(bool, std::vector<std::string>)>& answer);
    [[nodiscard]] std::vector<metrics::server_sample> samples() const;
    [[nodiscard]] std::vector<metrics::migration_sample> migration_samples() const;
    [[nodiscard]] readiness ready() const;
};

void server::parts::start_migrations() {
    migrations = std::make_unique<migration::supervisor>(*config);
    shared.migrate = [this](migration::command what, std::function<void(migration::reply)> answer) {
        migrations->carry_out(std::move(what), std::move(answer));
    };
    shared.await_stored = [this](const std::string& database, std::function<void(bool)> answer) {
        migrations->await_stored(database, std::move(answer));
    };
}

void server::parts::start() {
    auto contexts = make_tls_contexts(*config);
    for (unsigned i = 0; i < shared.workers(); ++i) {
        workers.push_back(std::make_unique<worker>(i, config, contexts, shared));
        shared.all.push_back(workers.back().get());
        registry.add(workers.back()->probes);
    }
    shared.want_catalog = [this](const std::string& cluster, const std::string& database) {
        asio::post(control, [this, cluster, database] {
            if (const auto found = clusters.find(cluster); found != clusters.end()) {
                found->second.catalogs->request(database);
            }
        });
    };
    shared.refresh_catalog = [this](const std::string& cluster, const std::string& database) {
        asio::post(control, [this, cluster, database] {
            if (const auto found = clusters.find(cluster); found != clusters.end()) {
                found->second.catalogs->refresh(database);
            }
        });
    };
    shared.suspect = [this](const std::string& cluster, std::size_t which) {
        asio::post(control, [this, cluster, which] {
            const auto found = clusters.find(cluster);
            if (found != clusters.end() && found->second.topology &&
                which < found->second.topology->servers.size()) {
                found->second.monitor->probe_now(which);
            }
        });
    };
    shared.reload = [this](std::function<void(bool, std::vector<std::string>)> answer) {
        asio::post(control, [this, answer = std::move(answer)] { reload(answer); });
    };
    start_migrations();
    if (config->http.enabled) {
        if (const auto ec = http.listen(config->http.address, config->http.port)) {
            throw std::runtime_error(
                "cannot listen on http " + config->http.address + ":" +
                std::to_string(config->http.port) + ": " + ec.message()
            );
        }
    }
    for (const auto& each : workers) {
        each->start();
    }
    for (const auto& cluster : config->clusters) {
        watch(cluster, nullptr);
    }
    signals.add(SIGTERM);
    signals.add(SIGINT);
    signals.add(SIGHUP);
    await_signal();
    spdlog::info(
        "pgweir {} listens on {}:{} with {} workers",
        WEIR_VERSION,
        config->listen.address,
        config->listen.port,
        workers.size()
    );
}

void server::parts::watch(const config::cluster& cluster, routing::topology_ptr previous) {
    auto& slot = clusters[cluster.name];
    const auto name = cluster.name;
    slot.catalogs = std::make_unique<catalog_loader>(
        control,
        catalog_loader_options{
            .cluster = cluster,
            .parse = [](std::string_view sql) { return routing::parse(sql).value; },
            .publish =
                [this, name](const std::string& database, const routing::catalog_ptr& snapshot) {
                    for (auto* const each : shared.all) {
                        each->post([each, name, database, snapshot] {
                            each->publish_catalog(name, database, snapshot);
                        });
                    }
                }}
    );
    slot.monitor = std::make_unique<monitor>(
        control,
        monitor_options{
            .cluster = cluster,
            .previous = std::move(previous),
            .publish =
                [this, name](const routing::topology_ptr& fresh) {
                    auto& found = clusters[name];
                    if (!found.topology || found.topology->primary != fresh->primary) {
                        spdlog::info(
                            "cluster {}: primary is {}",
                            name,
                            fresh->primary == routing::no_server
                                ? "unknown"
                                : fresh->servers[fresh->primary].name
                        );
                    }
                    found.topology = fresh;
                    found.catalogs->use(fresh);
                    for (auto* const each : shared.all) {
                        each->post([each, name, fresh] { each->publish_topology(name, fresh); });
                    }
                }}
    );
    slot.monitor->start();
}

void server::parts::await_signal() {
    signals.async_wait([this](const error_code& ec, int number) {
        if (ec) {
            return;
        }
        if (number == SIGHUP) {
            reload([](bool done, const std::vector<std::string>& lines) {
                for (const auto& line : lines) {
                    spdlog::log(
                        done ? spdlog::level::info : spdlog::level::err,
                        "reload: {}",
                        line
                    );
                }
            });
        } else {
            stop(number == SIGINT || stopping);
        }
        await_signal();
    });
}

void server::parts::stop(bool at_once) {
    spdlog::info("stopping{}", at_once ? " at once" : ": waiting for transactions to end");
    stopping = true;
    shared.stopping = true;
    for (const auto& each : workers) {
        each->stop(at_once);
    }
    if (!at_once) {
        drain.expires_after(drain_time);
        drain.async_wait([this](const error_code& ec) {
            if (!ec) {
                stop(true);
            }
        });
    }
    if (!joiner.joinable()) {
        // Joined off the control thread, which must go on answering until they are done.
        joiner = std::thread([this] {
            for (const auto& each : workers) {
                each->join();
            }
            migrations->stop();
            control.stop();
        });
    }
}

void server::parts::reload(const std::function<void(bool, std::vector<std::string>)>& answer) {
    std::vector<std::string> lines;
    auto fresh = reread ? reread(lines) : nullptr;
    if (!fresh) {
        if (lines.empty()) {
            lines.emplace_back("there is no configuration file to read again");
        }
        answer(false, std::move(lines));
        return;
    }
    try {
        apply(std::move(fresh), lines);
    } catch (const std::exception& what) {
        answer(false, {what.what()});
        return;
    }
    answer(true, std::move(lines));
}

void server::parts::apply(
    std::shared_ptr<const config::config> fresh,
    std::vector<std::string>& lines
) {
    auto contexts = make_tls_contexts(*fresh);  // throws before anything has changed
    for (const auto& each : config::differences(*config, *fresh)) {
        lines.push_back(config::to_string(each));
    }
    if (lines.empty()) {
        lines.emplace_back("nothing has changed");
    }
    config = std::move(fresh);
    for (auto* const each : shared.all) {
        each->post([each, now = config, contexts] { each->reload(now, contexts); });
    }
    migrations->configure(*config);
    auto before = std::exchange(clusters, {});
    for (auto& [name, slot] : before) {
        slot.monitor->stop();
        slot.catalogs->stop();
    }
    for (const auto& cluster : config->clusters) {
        const auto known = before.find(cluster.name);
        watch(cluster, known == before.end() ? nullptr : known->second.topology);
    }
}

std::vector<metrics::server_sample> server::parts::samples() const {
    std::vector<metrics::server_sample> all;
    for (const auto& [name, slot] : clusters) {
        if (!slot.topology) {
            continue;
        }
        for (const auto& each : slot.topology->servers) {
            all.push_back(sample_of(*slot.topology, each));
        }
    }
    return all;
}

std::vector<metrics::migration_sample> server::parts::migration_samples() const {
    std::vector<metrics::migration_sample> all;
    if (!migrations) {
        return all;
    }
    for (const auto& one : migrations->statuses()) {
        all.push_back(
            {.migration = one.name,
             .phase = std::string(to_string(one.phase)),
             .rows_copied = one.rows_copied,
             .rows_streamed = one.rows_streamed,
             .bytes = one.bytes,
             .lag_bytes = one.lag_bytes,
             .lag_seconds = one.lag_seconds,
             .lag_rows = one.lag_rows,
             .retries = one.retries,
             .dead_letters = one.dead_letters,
             .unacknowledged = one.unacknowledged,
             .retained_wal_bytes = one.retained_wal}
        );
    }
    return all;
}

readiness server::parts::ready() const {
    readiness all;
    for (const auto& [name, slot] : clusters) {
        cluster_readiness one{.cluster = name, .reads = false, .writes = false};
        if (slot.topology) {
            one.writes = slot.topology->primary != routing::no_server;
            one.reads = one.writes || std::any_of(
                                          slot.topology->servers.begin(),
                                          slot.topology->servers.end(),
                                          [](const auto& s) { return s.weight > 0; }
                                      );
        }
        all.clusters.push_back(one);
    }
    return all;
}

server::server(std::shared_ptr<const config::config> from, reader reread)
    : parts_(std::make_unique<parts>(std::move(from), std::move(reread))) {}

server::~server() = default;

int server::run() {
    try {
        parts_->start();
    } catch (const std::exception& what) {
        spdlog::error("{}", what.what());
        return 1;
    }
    parts_->control.run();
    if (parts_->joiner.joinable()) {
        parts_->joiner.join();
    }
    return 0;
}

void server::reload(std::function<void(bool done, std::vector<std::string> lines)> answer) {
    asio::post(parts_->control, [this, answer = std::move(answer)] { parts_->reload(answer); });
}

}  // namespace weir::proxy
