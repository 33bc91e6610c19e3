// Databases and servers that are not there, or refuse: the server's own words at once, and no
// harm to anybody else.
#include "tests/integration/state_tools.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.login_databases");

namespace {

message last_of_login(const endpoint& to, const login& as) {
    wire_client client(to);
    return client.log_in(as).back();
}

login to_database(
    const cluster& servers,
    const std::string& database,
    const std::string& user = "app"
) {
    auto as = login_as(servers, user);
    as.database = database;
    return as;
}

}  // namespace

TEST_CASE("B69 a database that the server does not have is refused in its words") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    pq_connection other(proxy.at(), login_as(servers));
    const auto as = to_database(servers, "no_such_database");
    const auto direct = last_of_login(servers.primary().at, as);
    const auto through = last_of_login(proxy.at(), as);
    CHECK(through.code() == "3D000");
    CHECK(through.field('S') == "FATAL");
    CHECK(through.field('M') == direct.field('M'));
    // A hundred at once, over two names.
    std::atomic<int> refused = 0;
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < 100; ++i) {
            all.emplace_back([&, i] {
                const auto name = "no_such_database_" + std::to_string(i % 2);
                refused += last_of_login(proxy.at(), to_database(servers, name)).code() == "3D000";
            });
        }
    }
    CHECK(refused == 100);
    CHECK(other.value("select 1") == "1");
    // Nothing is left behind that waits or holds a slot.
    const auto pools = proxy.console("SHOW POOLS");
    for (int row = 0; row < pools.rows(); ++row) {
        CHECK(pools.at(row, "cl_waiting") == "0");
        CHECK(pools.at(row, "sv_login") == "0");
    }
}

TEST_CASE("B69 a role without CONNECT and a role without LOGIN are refused in the server's words") {
    auto& servers = cluster::shared();
    prepare(servers, {"drop database if exists login_closed"});
    prepare(
        servers,
        {"create database login_closed", "revoke connect on database login_closed from public"}
    );
    proxy_process proxy(servers, one_server("{size: 2}"));
    const auto as = to_database(servers, "login_closed", "app2");
    const auto through = last_of_login(proxy.at(), as);
    CHECK(through.code() == "42501");
    CHECK(through.field('M') == last_of_login(servers.primary().at, as).field('M'));
    prepare(servers, {"alter role app2 nologin"});
    const auto shut_out = last_of_login(proxy.at(), login_as(servers, "app2"));
    const auto direct = last_of_login(servers.primary().at, login_as(servers, "app2"));
    prepare(servers, {"alter role app2 login", "drop database login_closed"});
    CHECK(shut_out.code() == "28000");
    CHECK(shut_out.field('M') == direct.field('M'));
    // A refusal holds for the clients of the next moment, too.
    REQUIRE(wait_until([&] {
        return pq_connection::try_connect(proxy.at(), login_as(servers, "app2")).ok();
    }));
}

TEST_CASE("a password that the server does not take is told and the pool lives") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    prepare(servers, {"alter role app2 password 'another'"});
    const auto through = last_of_login(proxy.at(), login_as(servers, "app2"));
    prepare(servers, {"alter role app2 password '" + servers.password("app2") + "'"});
    CHECK(through.code() == "28P01");
    REQUIRE(wait_until([&] {
        return pq_connection::try_connect(proxy.at(), login_as(servers, "app2")).ok();
    }));
    CHECK(pq_connection(proxy.at(), login_as(servers)).value("select 1") == "1");
}

TEST_CASE("a database that is not configured is refused") {
    auto& servers = cluster::shared();
    auto options = one_server("{size: 2}");
    options.databases = "{app: {cluster: main}, alias: {cluster: main, database: app}}";
    proxy_process proxy(servers, options);
    const auto refused = last_of_login(proxy.at(), to_database(servers, "postgres"));
    CHECK(refused.code() == "3D000");
    CHECK(refused.field('M').find("postgres") != std::string::npos);
    wire_client alias(proxy.at(), to_database(servers, "alias"));
    CHECK(alias.value("select current_database()") == "app");
}

TEST_CASE("a server that is not reached gives an error when failover.wait is over") {
    const auto servers = cluster::start_own("unreachable", "--replicas 0");
    auto options = one_server("{size: 2}");
    options.cluster_lines = {"failover: {wait: 300ms}"};
    proxy_process proxy(servers, options);
    pq_connection before(proxy.at(), login_as(servers));
    CHECK(before.value("select 1") == "1");
    servers.tool("stop n1 immediate");
    // The first one may still have been sent on a connection whose end was on its way.
    const auto first = code_of(before, "select 1");
    CHECK((first == "08006" || first == "57P01" || first == "57P03"));
    for (int i = 0; i < 3; ++i) {
        CHECK(code_of(before, "select 1") == "57P03");
        CHECK(PQstatus(before.get()) == CONNECTION_OK);
        CHECK(before.try_query("select $1::int", {"1"}).code() == "57P03");
    }
    // The proxy knows what to greet with from before, so that a login works and its statements
    // wait.
    pq_connection late(proxy.at(), login_as(servers));
    CHECK(code_of(late, "select 1") == "57P03");
    servers.tool("start-node n1");
    REQUIRE(wait_until([&] { return code_of(before, "select 1").empty(); }));
    CHECK(pq_connection(proxy.at(), login_as(servers)).value("select 2") == "2");
}

TEST_CASE("statements wait for a server that comes back within failover.wait") {
    const auto servers = cluster::start_own("comes-back", "--replicas 0");
    auto options = one_server("{size: 2}");
    options.cluster_lines = {"failover: {wait: 60s}"};
    proxy_process proxy(servers, options);
    pq_connection client(proxy.at(), login_as(servers));
    CHECK(client.value("select 1") == "1");
    servers.tool("stop n1");
    REQUIRE(wait_until([&] { return http_get(proxy.http(), "/readyz").status != 200; }));
    start(client, "select 7");
    servers.tool("start-node n1");
    CHECK(receive(client).at(0, 0) == "7");
}

TEST_SUITE_END();

}  // namespace weir::integration
