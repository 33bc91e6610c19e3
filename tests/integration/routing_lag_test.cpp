// Lag: what it does to the shares of the replicas, and when a replica is out.
#include "tests/integration/support/traffic.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace weir::integration {
namespace {

constexpr const char* table = "routed_lag";

// With that limit, and no ramp for a replica that comes back.
proxy_options with_lag(const std::string& lag) {
    proxy_options options;
    options.lag = lag;
    return options;
}

void search_times(pq_connection& client, int times) {
    const auto sql = search(table);
    for (int i = 0; i < times; ++i) {
        client.query(sql);
    }
}

// How the searches would have been spread if every stretch of them had followed the weights that
// held in it.
class expectation {
public:
    expectation(const proxy_process& proxy, const cluster& servers)
        : proxy_(proxy), console_(proxy, servers), before_(served(proxy)) {
        shares_ = console_.topology();
    }

    void follow() {
        const auto now = total();
        auto fresh = console_.topology();
        for (const auto& [name, server] : shares_) {
            // The weights changed somewhere in between.
            expected_[name] += (server.share + fresh.at(name).share) / 2 * (now - done_);
        }
        done_ = now;
        shares_ = std::move(fresh);
    }

    [[nodiscard]] double total() const {
        double sum = 0;
        for (const auto& [name, count] : difference(before_, served(proxy_))) {
            sum += count;
        }
        return sum;
    }

    void check(double points) {
        follow();
        const auto found = difference(before_, served(proxy_));
        for (const auto& each : expected_) {
            const auto& name = each.first;
            const double wanted = each.second;
            CAPTURE(name);
            const double share = found.count(name) == 0 ? 0 : found.at(name) / done_;
            MESSAGE(name, ": share ", 100 * share, " %, weights ", 100 * wanted / done_, " %");
            CHECK(std::abs(share - wanted / done_) <= points / 100);
        }
    }

private:
    const proxy_process& proxy_;
    console console_;
    std::map<std::string, double> before_;
    topology_view shares_;
    std::map<std::string, double> expected_;
    double done_ = 0;
};

}  // namespace

TEST_SUITE_BEGIN("integration.routing_lag");

TEST_CASE(
    "shares over 10 000 vector searches follow the weights at lags of 0 and 1 and 2 half-lives"
) {
    const auto servers = cluster::start_own("routing", "--replicas 3");
    make_items(servers, table, 200);
    auto options = with_lag("{half: 700ms, max: 10s, slow_start: 0s}");
    options.workers = 2;
    proxy_process proxy(servers, options);
    wait_for_routing(proxy, servers, table);
    const trickle writes(servers, table);
    servers.tool("delay n3 700ms");
    servers.tool("delay n4 1400ms");
    console asked(proxy, servers);
    REQUIRE(wait_until([&] {
        const auto now = asked.topology();
        return now.at("n2").weight > 0.8 && now.at("n3").lag_ms > 550 &&
               now.at("n3").lag_ms < 850 && now.at("n4").lag_ms > 1200 &&
               now.at("n4").lag_ms < 1700;
    }));
    expectation expected(proxy, servers);
    std::vector<std::thread> clients;
    clients.reserve(4);
    for (int i = 0; i < 4; ++i) {
        clients.emplace_back([&] {
            pq_connection client(proxy.at(), login_as(servers));
            search_times(client, 2500);
        });
    }
    while (expected.total() < 9900) {
        expected.follow();
        std::this_thread::sleep_for(20ms);
    }
    for (auto& client : clients) {
        client.join();
    }
    CHECK(expected.total() == 10000);
    expected.check(3);
}

TEST_CASE("B119 a replica whose replay is paused gets nothing after its second sample") {
    auto& servers = cluster::shared();
    make_items(servers, table, 100);
    proxy_process proxy(servers, with_lag("{max: 10s, slow_start: 0s}"));
    wait_for_routing(proxy, servers, table);
    pq_connection client(proxy.at(), login_as(servers));
    console asked(proxy, servers);
    search_times(client, 200);
    REQUIRE(served(proxy).at("n3") > 0);

    disturbance stopped(servers);
    stopped.pause("n3");
    sample_counter samples(asked, "n3");
    REQUIRE(samples.wait_for(2));
    const auto before = served(proxy);
    const trickle writes(servers, table);
    search_times(client, 300);
    CHECK(difference(before, served(proxy)) == std::map<std::string, double>{{"n2", 300}});
    CHECK(asked.topology().at("n3").excluded == "replay paused");
    CHECK(asked.topology().at("n3").weight == 0);

    stopped.undo();
    CHECK(wait_until([&] { return asked.topology().at("n3").weight > 0.5; }));
    const auto after = served(proxy);
    search_times(client, 200);
    CHECK(difference(after, served(proxy)).at("n3") > 40);
}

TEST_CASE(
    "B119 a delayed replica gets nothing after the second sample past the limit, and comes back"
) {
    auto& servers = cluster::shared();
    make_items(servers, table, 100);
    proxy_process proxy(servers, with_lag("{max: 1s, half: 1s, slow_start: 0s}"));
    wait_for_routing(proxy, servers, table);
    pq_connection client(proxy.at(), login_as(servers));
    console asked(proxy, servers);
    const trickle writes(servers, table);
    disturbance late(servers);
    late.delay("n2", "5s");
    sample_counter samples(asked, "n2");
    REQUIRE(samples.wait_for(2, [](const server_view& now) { return now.lag_ms > 1000; }));
    auto before = served(proxy);
    search_times(client, 300);
    CHECK(difference(before, served(proxy)) == std::map<std::string, double>{{"n3", 300}});
    CHECK(asked.topology().at("n2").excluded == "lag");

    late.undo();
    CHECK(wait_until([&] { return asked.topology().at("n2").excluded.empty(); }));
    CHECK(asked.topology().at("n2").lag_ms < 800);  // 80 % of the limit
    before = served(proxy);
    search_times(client, 200);
    CHECK(difference(before, served(proxy)).at("n2") > 20);
}

TEST_CASE("B119 an idle primary makes nobody late") {
    auto& servers = cluster::shared();
    make_items(servers, table, 100);
    proxy_process proxy(servers, with_lag("{max: 1s, half: 1s, slow_start: 0s}"));
    wait_for_routing(proxy, servers, table);
    servers.catch_up();
    pq_connection client(proxy.at(), login_as(servers));
    console asked(proxy, servers);
    sample_counter samples(asked, "n2");
    // At 200 ms a sample this is three times the limit.
    REQUIRE(samples.wait_for(15));
    for (const char* const name : {"n2", "n3"}) {
        CAPTURE(name);
        const auto now = asked.topology().at(name);
        CHECK(now.excluded == "");
        CHECK(now.weight > 0.8);
    }
    const double primary = served(proxy).at("n1");
    search_times(client, 100);
    CHECK(served(proxy).at("n1") == primary);
}

TEST_CASE("with no replica fit the primary serves unless the rule wants replicas only") {
    auto& servers = cluster::shared();
    make_items(servers, table, 100);
    proxy_options options;
    options.lines = {
        "routing: {rules: ["
        "{name: only, match: {vector: true, user: app2}, targets: replicas, consistency: eventual},"
        "{name: near, match: {vector: true}, consistency: eventual}]}"};
    proxy_process proxy(servers, options);
    wait_for_routing(proxy, servers, table);
    pq_connection direct(servers.primary().at, login_as(servers));
    direct.query(std::string("grant select on ") + table + " to app2");
    servers.catch_up();
    pq_connection client(proxy.at(), login_as(servers));
    pq_connection strict(proxy.at(), login_as(servers, "app2"));
    console asked(proxy, servers);
    CHECK(strict.try_query(search(table)).code() == "");
    disturbance stopped(servers);
    stopped.pause("n2");
    stopped.pause("n3");
    REQUIRE(wait_until([&] {
        const auto now = asked.topology();
        return now.at("n2").excluded == "replay paused" && now.at("n3").excluded == "replay paused";
    }));
    const auto before = served(proxy);
    const double lagging = routed(proxy, "primary", "lagging");
    search_times(client, 50);
    CHECK(difference(before, served(proxy)) == std::map<std::string, double>{{"n1", 50}});
    CHECK(routed(proxy, "primary", "lagging") == lagging + 50);
    CHECK(strict.try_query(search(table)).code() == "57P03");
    stopped.undo();
    CHECK(wait_until([&] { return strict.try_query(search(table)).code().empty(); }));
    CHECK(strict.query("select 1").rows() == 1);
}

TEST_CASE("a replica of another system is left out and named") {
    auto& servers = cluster::shared();
    make_items(servers, table, 100);
    const auto strangers = cluster::start_own("strangers", "--replicas 1");
    make_items(strangers, table, 100);
    proxy_options options;
    options.relays = {{"n3", strangers.node("n2").at.port}};
    proxy_process proxy(servers, options);
    console asked(proxy, servers);
    REQUIRE(wait_until([&] {
        const auto now = asked.topology();
        return now.at("n2").weight > 0 && now.at("n3").role == "replica" &&
               asked.route(search(table), "reason") == "vector";
    }));
    CHECK(asked.topology().at("n3").excluded == "other system");
    CHECK(asked.topology().at("n3").weight == 0);
    pq_connection client(proxy.at(), login_as(servers));
    const auto before = served(proxy);
    search_times(client, 200);
    CHECK(difference(before, served(proxy)) == std::map<std::string, double>{{"n2", 200}});
}

TEST_SUITE_END();

}  // namespace weir::integration
