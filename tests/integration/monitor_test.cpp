// The monitor and the catalog loader against real servers (PGWEIR_TEST_CLUSTER: n1 primary, n2 and
// n3 replicas).
#include "proxy/monitor.hpp"

#include "proxy/catalog_loader.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

using namespace weir;
using namespace weir::proxy;
using namespace std::chrono_literals;

namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    REQUIRE_MESSAGE(value != nullptr, name, " is not set");
    return value;
}

boost::json::value cluster_note() {
    std::ifstream in(environment("PGWEIR_TEST_CLUSTER"));
    const std::string text(std::istreambuf_iterator<char>(in), {});
    return boost::json::parse(text);
}

std::string text_at(const boost::json::value& in, const char* key) {
    return std::string(in.at(key).as_string());
}

config::cluster test_cluster() {
    const auto note = cluster_note();
    config::cluster cluster;
    cluster.name = "test";
    cluster.monitor.user = "pgweir";
    cluster.monitor.password = text_at(note.at("users"), "pgweir");
    cluster.monitor.interval = 50ms;
    for (const auto& node : note.at("nodes").as_array()) {
        config::server server;
        server.name = text_at(node, "name");
        server.host = text_at(node, "host");
        server.port = static_cast<std::uint16_t>(node.at("port").as_int64());
        cluster.servers.push_back(server);
    }
    return cluster;
}

void tool(const std::string& arguments) {
    const auto command = environment("PGWEIR_CLUSTER_TOOL") + " " + arguments + " >/dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
}

struct resumed_at_the_end {
    std::string node;

    ~resumed_at_the_end() { tool("resume " + node); }
};

// Runs a monitor and hands every topology to `look` until that returns true. False: it never did.
bool watch(
    const config::cluster& cluster,
    const std::function<bool(const routing::topology&)>& look
) {
    asio::io_context io{1};
    bool done = false;
    monitor_options options;
    options.cluster = cluster;
    options.publish = [&](const routing::topology_ptr& now) {
        if (!done && look(*now)) {
            done = true;
            io.stop();
        }
    };
    monitor watching(io, options);
    watching.start();
    io.run_for(30s);
    return done;
}

bool all_in_use(const routing::topology& now) {
    return now.primary == 0 && now.servers[1].excluded == routing::exclusion::none &&
           now.servers[2].excluded == routing::exclusion::none;
}

}  // namespace

TEST_SUITE_BEGIN("integration.monitor");

TEST_CASE("the monitor finds out who is the primary and that replicas follow its timeline") {
    const auto note = cluster_note();
    const bool found = watch(test_cluster(), [&](const routing::topology& now) {
        if (!all_in_use(now)) {
            return false;
        }
        CHECK(std::to_string(now.system_identifier) == text_at(note, "system"));
        CHECK(now.servers[0].role == routing::server_role::primary);
        CHECK(now.servers[1].role == routing::server_role::replica);
        CHECK(now.timeline.value >= 1);
        CHECK(now.servers[1].timeline == now.timeline);
        CHECK(now.servers[2].timeline == now.timeline);
        CHECK(now.servers[1].replayed.value > 0);
        CHECK(now.servers[0].server_version / 10000 == note.at("version").as_int64());
        CHECK(now.servers[1].weight > 0);
        CHECK(now.servers[0].weight == 0);
        return true;
    });
    CHECK(found);
}

TEST_CASE("a replica whose replay is paused is shut out by the second sample after that") {
    const resumed_at_the_end resume{"n2"};
    bool paused = false;
    int samples = 0;
    routing::steady_time last{};
    const bool shut_out = watch(test_cluster(), [&](const routing::topology& now) {
        if (!paused && all_in_use(now)) {
            tool("pause n2");
            paused = true;
            last = now.servers[1].sampled;
            return false;
        }
        if (!paused || now.servers[1].sampled == last) {
            return false;
        }
        last = now.servers[1].sampled;
        ++samples;
        return samples > 2 || now.servers[1].excluded == routing::exclusion::replay_paused;
    });
    CHECK(shut_out);
    CHECK(samples <= 2);
}

TEST_CASE("a wrong password makes every server unreachable and the topology says why") {
    auto cluster = test_cluster();
    cluster.monitor.password = "wrong";
    const bool seen = watch(cluster, [](const routing::topology& now) {
        for (const auto& server : now.servers) {
            if (server.error.find("password authentication failed") == std::string::npos) {
                return false;
            }
            CHECK_FALSE(server.up);
            CHECK(server.excluded == routing::exclusion::unreachable);
        }
        return now.primary == routing::no_server;
    });
    CHECK(seen);
}

TEST_CASE("with verify-full the monitor uses TLS and trusts only the configured authority") {
    auto cluster = test_cluster();
    cluster.tls.mode = config::tls_mode::verify_full;
    cluster.tls.ca = text_at(cluster_note().at("tls"), "ca");
    CHECK(watch(cluster, all_in_use));

    cluster.tls.ca = text_at(cluster_note().at("tls"), "wrong_ca");
    CHECK(watch(cluster, [](const routing::topology& now) {
        return now.servers[0].error.find("certificate verify failed") != std::string::npos;
    }));
}

TEST_CASE("a replica that lost its primary still tells its timeline") {
    auto cluster = test_cluster();
    tool("stop n1 fast");
    const bool told = watch(cluster, [](const routing::topology& now) {
        return now.servers[0].excluded == routing::exclusion::unreachable &&
               now.servers[1].timeline.value >= 1 && now.servers[2].timeline.value >= 1;
    });
    tool("start-node n1");
    tool("catch-up");
    CHECK(told);
}

TEST_CASE("a new function makes a new catalog and an unknown database none") {
    asio::io_context io{1};
    const auto cluster = test_cluster();
    int snapshots = 0;
    bool had_it = false;
    bool has_it = false;
    catalog_loader_options wanted;
    wanted.cluster = cluster;
    wanted.poll = 50ms;
    wanted.parse = [](std::string_view) { return routing::traits{}; };
    wanted.publish = [&](const std::string& database, const routing::catalog_ptr& snapshot) {
        CHECK(database == "app");
        ++snapshots;
        const auto found = snapshot->functions.find("made_by_monitor_test");
        has_it = found != snapshot->functions.end();
        if (snapshots == 1) {
            had_it = has_it;
            CHECK(snapshot->functions.contains("lower"));
            tool(
                "psql n1 'create function made_by_monitor_test() returns int language sql as "
                "$$select 1$$' --database app"
            );
        } else if (has_it) {
            CHECK(found->second.at(0).from == routing::origin::user);
            io.stop();
        }
    };
    catalog_loader loader(io, wanted);
    monitor_options options;
    options.cluster = cluster;
    options.publish = [&](const routing::topology_ptr& now) { loader.use(now); };
    monitor watching(io, options);
    loader.request("no_such_database");
    loader.request("app");
    watching.start();
    io.run_for(30s);
    tool("psql n1 'drop function made_by_monitor_test' --database app");
    CHECK_FALSE(had_it);
    CHECK(has_it);
    CHECK(snapshots == 2);
}

TEST_SUITE_END();
