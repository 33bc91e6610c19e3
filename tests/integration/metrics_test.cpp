// /metrics, /healthz and /readyz of a running proxy against the traffic that it had.
#include "tests/integration/support/traffic.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace weir::integration {
namespace {

constexpr const char* table = "routed_metrics";

// tests/, where the cluster's tool lies in a folder of it.
std::filesystem::path tests_folder() {
    return std::filesystem::path(environment("PGWEIR_CLUSTER_TOOL")).parent_path().parent_path();
}

// Where tests/setup puts it, or Debian's package; empty when there is none.
std::string promtool() {
    const auto own = tests_folder().parent_path() / "build/tools/promtool";
    for (const auto& path : {own, std::filesystem::path("/usr/bin/promtool")}) {
        if (std::filesystem::exists(path)) {
            return path;
        }
    }
    return {};
}

proxy_options near_rule() {
    proxy_options options;
    options.workers = 2;
    options.lines = {
        "routing: {rules: [{name: near, match: {vector: true}, consistency: eventual}]}"};
    return options;
}

// One of everything that the dashboards look at.
void some_traffic(const proxy_process& proxy, const cluster& servers) {
    pq_connection client(proxy.at(), login_as(servers));
    for (int i = 0; i < 20; ++i) {
        client.query(search(table));
        client.query(std::string("update ") + table + " set t = 'm' where id = $1", {"1"});
        client.query(std::string("select t from ") + table + " where id = 1");
    }
    client.query("begin; select 1; commit");
    client.try_query("select 1/0");
    client.query("listen somebody");  // holds on to its connection
    login nobody = login_as(servers);
    nobody.password = "wrong";
    static_cast<void>(pq_connection::try_connect(proxy.at(), nobody));
}

}  // namespace

TEST_SUITE_BEGIN("integration.metrics");

TEST_CASE("dashboards and alerts ask only for series that a proxy under traffic shows") {
    auto& servers = cluster::shared();
    make_items(servers, table, 50);
    proxy_process proxy(servers, near_rule());
    wait_for_routing(proxy, servers, table);
    some_traffic(proxy, servers);
    auto command = (tests_folder() / "metrics/check_series.py").string() + " http://" +
                   proxy.http().host + ":" + std::to_string(proxy.http().port) + "/metrics";
    if (const auto tool = promtool(); !tool.empty()) {
        command += " --promtool " + tool;
    } else {
        MESSAGE("without promtool");
    }
    CHECK_NOTHROW(run_command(command));
}

TEST_CASE("queries and their times are counted by rule and server and kind") {
    auto& servers = cluster::shared();
    make_items(servers, table, 50);
    proxy_process proxy(servers, near_rule());
    wait_for_routing(proxy, servers, table);
    pq_connection client(proxy.at(), login_as(servers));
    for (int i = 0; i < 30; ++i) {
        client.query(search(table));
    }
    for (int i = 0; i < 7; ++i) {
        client.query(std::string("select t from ") + table + " where id = 1");
        client.query(std::string("update ") + table + " set t = 'm' where id = 1");
    }
    const auto count = [&](const char* rule, const char* kind) {
        return proxy.metric("pgweir_queries_total", {{"rule", rule}, {"kind", kind}});
    };
    CHECK(count("near", "vector") == 30);
    CHECK(count("default", "read") == 7);
    CHECK(count("default", "write") == 7);
    CHECK(proxy.metric("pgweir_query_seconds_count", {{"rule", "near"}}) == 30);
    CHECK(proxy.metric("pgweir_query_seconds_bucket", {{"rule", "near"}, {"le", "+Inf"}}) == 30);
    CHECK(proxy.metric("pgweir_query_seconds_sum", {{"rule", "near"}}) > 0);
    CHECK(routed(proxy, "replica", "vector") == 30);
    CHECK(proxy.metric("pgweir_staleness_served_seconds_count", {{"rule", "near"}}) == 30);
    CHECK(proxy.metric("pgweir_clients", {{"database", "app"}, {"state", "idle"}}) == 1);
    CHECK(proxy.metric("pgweir_bytes_total", {{"direction", "from_client"}}) > 1000);
    CHECK(proxy.metric("pgweir_bytes_total", {{"direction", "to_server"}}) > 1000);
    CHECK(proxy.metric("pgweir_server_up") == 3);
}

TEST_CASE("errors are counted by class and by who made them") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers);
    pq_connection client(proxy.at(), login_as(servers));
    const auto errors = [&](const char* state, const char* origin) {
        return proxy.metric("pgweir_errors_total", {{"class", state}, {"origin", origin}});
    };
    CHECK(errors("22", "server") == 0);
    for (int i = 0; i < 3; ++i) {
        CHECK(client.try_query("select 1/0").code() == "22012");
    }
    CHECK(errors("22", "server") == 3);
    CHECK(errors("28", "proxy") == 0);
    auto wrong = login_as(servers);
    wrong.password = "wrong";
    CHECK(!pq_connection::try_connect(proxy.at(), wrong).ok());
    CHECK(errors("28", "proxy") == 1);
}

TEST_CASE("health and readiness of a proxy whose servers are all up") {
    proxy_process proxy(cluster::shared());
    CHECK(http_get(proxy.http(), "/healthz").status == 200);
    CHECK(wait_until([&] {
        return http_get(proxy.http(), "/readyz").body ==
               "{\"ready\":true,\"clusters\":{\"main\":{\"reads\":true,\"writes\":true}}}\n";
    }));
    CHECK(http_get(proxy.http(), "/readyz").status == 200);
    CHECK(http_get(proxy.http(), "/nothing").status == 404);
}

TEST_SUITE_END();

}  // namespace weir::integration
