// PostgreSQL goes away and comes back: only what was under way may notice.
#include "tests/integration/state_tools.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.state_restart");

namespace {

// A client for each connection of the pool, all of them open and idle.
std::vector<pq_connection> fill(const proxy_process& proxy, const cluster& servers, int count) {
    std::vector<pq_connection> clients;
    for (int i = 0; i < count; ++i) {
        clients.emplace_back(proxy.at(), login_as(servers));
        clients.back().query("begin");
    }
    for (auto& each : clients) {
        each.query("commit");
    }
    CHECK(sessions_on_server(servers) == count);
    return clients;
}

}  // namespace

TEST_CASE("B98 after a restart twenty idle connections give no error") {
    const auto servers = cluster::start_own("restart", "--replicas 0");
    for (const unsigned workers : {1U, 2U}) {
        CAPTURE(workers);
        proxy_process proxy(servers, one_server("{size: 20}", workers));
        auto clients = fill(proxy, servers, 20);
        for (const std::string mode : {"fast", "immediate"}) {
            CAPTURE(mode);
            servers.tool("stop n1 " + mode);
            servers.tool("start-node n1");
            int errors = 0;
            for (std::size_t i = 0; i < 100; ++i) {
                errors += clients[i % 20].try_query("select 1").ok() ? 0 : 1;
            }
            CHECK(errors == 0);
        }
    }
}

TEST_CASE("B98 in a restart only the statements under way fail") {
    const auto servers = cluster::start_own("restart-busy", "--replicas 0");
    proxy_process proxy(servers, one_server("{size: 20}"));
    auto clients = fill(proxy, servers, 10);
    start(clients[0], "select pg_sleep(60)");
    clients[1].query("begin");
    clients[1].query("select 1");
    auto direct = superuser(servers);
    REQUIRE(wait_until([&] {
        return direct.value(
                   "select count(*) from pg_stat_activity where usename = 'app' and "
                   "state = 'active'"
               ) == "1";
    }));
    servers.tool("restart n1");
    const auto under_way = receive(clients[0]).code();
    CHECK((under_way == "57P01" || under_way == "08006"));
    CHECK_FALSE(clients[1].try_query("select 1").ok());
    CHECK(clients[0].value("select 1") == "1");
    for (std::size_t i = 2; i < clients.size(); ++i) {
        CHECK(clients[i].value("select 1") == "1");
    }
    CHECK(pq_connection(proxy.at(), login_as(servers)).value("select 1") == "1");
}

TEST_SUITE_END();

}  // namespace weir::integration
