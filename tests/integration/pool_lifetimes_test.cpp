// When connections of a pool are opened, and when they go.
#include "tests/integration/state_tools.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.pool_lifetimes");

namespace {

// Every client asks at the same time, so that the pool opens a connection for each.
void spread(std::vector<pq_connection>& clients) {
    for (auto& each : clients) {
        each.query("begin");
    }
    for (auto& each : clients) {
        each.query("commit");
    }
}

std::vector<pq_connection> connect(const proxy_process& proxy, const cluster& servers, int count) {
    std::vector<pq_connection> made;
    for (int i = 0; i < count; ++i) {
        made.emplace_back(proxy.at(), login_as(servers));
    }
    return made;
}

bool server_has(const cluster& servers, int sessions) {
    return wait_until([&] { return sessions_on_server(servers) == sessions; });
}

}  // namespace

TEST_CASE("min connections are kept open and no more") {
    auto& servers = cluster::shared();
    REQUIRE(server_has(servers, 0));
    for (const unsigned workers : {1U, 2U}) {
        CAPTURE(workers);
        proxy_process proxy(servers, one_server("{size: 5, min: 2, idle_timeout: 200ms}", workers));
        auto clients = connect(proxy, servers, 5);
        CHECK(server_has(servers, 2));  // the first login makes the pool
        spread(clients);
        CHECK(server_has(servers, 2));
        // Their places are filled again.
        prepare(
            servers,
            {"select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'"}
        );
        CHECK(server_has(servers, 2));
        CHECK(clients[0].value("select 1") == "1");
    }
}

TEST_CASE("idle_timeout closes what nobody uses") {
    auto& servers = cluster::shared();
    REQUIRE(server_has(servers, 0));
    proxy_process proxy(servers, one_server("{size: 5, idle_timeout: 200ms}"));
    auto clients = connect(proxy, servers, 5);
    spread(clients);
    CHECK(server_has(servers, 0));
    CHECK(clients[0].value("select 1") == "1");
}

TEST_CASE("lifetime replaces connections between transactions and never inside") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1, lifetime: 300ms}"));
    pq_connection client(proxy.at(), login_as(servers));
    std::set<std::string> pids;
    REQUIRE(wait_until([&] {
        pids.insert(client.value("select pg_backend_pid()"));
        return pids.size() == 4;
    }));
    client.query("begin");
    const auto pid = client.value("select pg_backend_pid()");
    client.query("select pg_sleep(1)");
    CHECK(client.value("select pg_backend_pid()") == pid);
    client.query("commit");
    CHECK(client.value("select pg_backend_pid()") != pid);
}

TEST_CASE("a server that closes an idle connection is noticed before anybody uses it") {
    auto& servers = cluster::shared();
    REQUIRE(server_has(servers, 0));
    proxy_process proxy(servers, one_server("{size: 5}"));
    auto clients = connect(proxy, servers, 5);
    for (int round = 0; round < 5; ++round) {
        spread(clients);
        CHECK(sessions_on_server(servers) == 5);
        prepare(
            servers,
            {"select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'"}
        );
        REQUIRE(server_has(servers, 0));
        REQUIRE(wait_until([&] {
            return proxy.metric("pgweir_server_connections", {{"state", "idle"}}) == 0;
        }));
        for (auto& each : clients) {
            CHECK(each.try_query("select 1").ok());
        }
    }
}

TEST_CASE("check_after tries a connection before it is used") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1, check_after: 1ms}"));
    auto clients = connect(proxy, servers, 3);
    for (int i = 0; i < 50; ++i) {
        for (auto& each : clients) {
            CHECK(each.value("select 1") == "1");
        }
    }
}

TEST_CASE("client_idle_timeout and idle_transaction_timeout disconnect with a reason") {
    auto& servers = cluster::shared();
    proxy_process proxy(
        servers,
        one_server("{size: 1, client_idle_timeout: 300ms, idle_transaction_timeout: 300ms}")
    );
    wire_client idle(proxy.at(), login_as(servers));
    CHECK(idle.value("select 1") == "1");
    CHECK(kinds(idle.read_to_end()) == "E(57P05)");
    wire_client in_transaction(proxy.at(), login_as(servers));
    CHECK(kinds(in_transaction.ask(script().query("begin"))) == "C Z(T)");
    CHECK(kinds(in_transaction.read_to_end()) == "E(25P03)");
    // Not while a statement runs (B95).
    pq_connection busy(proxy.at(), login_as(servers));
    busy.query("begin");
    busy.query("select pg_sleep(1)");
    busy.query("select pg_sleep(1)");
    busy.query("commit");
}

TEST_SUITE_END();

}  // namespace weir::integration
