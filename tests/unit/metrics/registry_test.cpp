#include "metrics/registry.hpp"

#include <doctest/doctest.h>
#include <prometheus/metric_family.h>

#include <atomic>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace weir::metrics;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> lines_of(const std::string& text, const std::string& start) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.rfind(start, 0) == 0) {
            lines.push_back(line);
        }
    }
    return lines;
}

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

struct two_workers {
    std::shared_ptr<worker_probe> a = std::make_shared<worker_probe>();
    std::shared_ptr<worker_probe> b = std::make_shared<worker_probe>();
    registry all{{.version = "1.2.3", .topology = {}}};

    two_workers() {
        all.add(a);
        all.add(b);
    }
};

std::vector<server_sample> three_servers() {
    return {
        {.cluster = "main", .server = "p", .role = "primary", .up = true},
        {.cluster = "main",
         .server = "r",
         .role = "replica",
         .up = true,
         .measured = true,
         .lag_seconds = 0.5,
         .lag_bytes = 4096,
         .weight = 0.7},
        {.cluster = "main", .server = "x", .role = "unknown"},
    };
}

}  // namespace

TEST_SUITE_BEGIN("metrics.registry");

TEST_CASE("queries of all workers add up by rule and server") {
    two_workers workers;
    workers.a->query("default", "p").finished(query_kind::read, 75us);
    workers.b->query("default", "p").finished(query_kind::read, 100us);
    workers.b->query("default", "p").finished(query_kind::write, 30s);
    const auto text = workers.all.text();
    CHECK(has_line(text, R"(pgweir_queries_total{rule="default",server="p",kind="read"} 2)"));
    CHECK(has_line(text, R"(pgweir_queries_total{rule="default",server="p",kind="write"} 1)"));
    CHECK(has_line(text, R"(pgweir_queries_total{rule="default",server="p",kind="vector"} 0)"));
    const std::string bucket = R"(pgweir_query_seconds_bucket{rule="default",server="p",le=)";
    CHECK(has_line(text, bucket + R"("5e-05"} 0)"));
    CHECK(has_line(text, bucket + R"("0.0001"} 2)"));
    CHECK(has_line(text, bucket + R"("26.2144"} 2)"));
    CHECK(has_line(text, bucket + R"("+Inf"} 3)"));
    CHECK(has_line(text, R"(pgweir_query_seconds_count{rule="default",server="p"} 3)"));
    CHECK(lines_of(text, "pgweir_query_seconds_bucket").size() == 21);
}

TEST_CASE("clients and pools are shown by state and may move between workers") {
    two_workers workers;
    workers.a->client("db", "u").entered(client_state::idle);
    workers.a->client("db", "u").transaction_ended();
    workers.b->client("db", "u").entered(client_state::idle);
    workers.a->pool("main", "s", "db").entered(server_connection_state::active);
    workers.b->pool("main", "s", "db")
        .moved(server_connection_state::active, server_connection_state::idle);
    workers.b->pool("main", "s", "db2").wait_began();
    workers.a->pool("main", "s", "db").no_wait();
    auto waiter = workers.a->pool("main", "s", "db2");
    waiter.wait_began();
    waiter.wait_ended(1s);
    const auto text = workers.all.text();
    CHECK(has_line(text, R"(pgweir_clients{database="db",user="u",state="idle"} 2)"));
    CHECK(has_line(text, R"(pgweir_transactions_total{database="db",user="u"} 1)"));
    const std::string connections =
        R"(pgweir_server_connections{cluster="main",server="s",database="db",state=)";
    CHECK(has_line(text, connections + R"("active"} 0)"));
    CHECK(has_line(text, connections + R"("idle"} 1)"));
    CHECK(has_line(text, R"(pgweir_pool_waiting{cluster="main",server="s",database="db"} 0)"));
    CHECK(has_line(text, R"(pgweir_pool_waiting{cluster="main",server="s",database="db2"} 1)"));
    CHECK(has_line(text, R"(pgweir_wait_seconds_count{cluster="main",server="s"} 2)"));
    CHECK(has_line(text, R"(pgweir_wait_seconds_sum{cluster="main",server="s"} 1)"));
}

TEST_CASE("routing and session figures have their names and labels") {
    two_workers workers;
    auto routes = workers.a->routes({"default"}, {"primary", "replica"}, {"writes", "weight"});
    routes.at(0, 1, 1).add();
    auto stale = workers.a->staleness_by_rule({"default"});
    stale.at(0).observe(2s);
    auto pins = workers.b->pins_by_reason({"none", "listen"});
    pins.at(1).add(1);
    workers.a->error("40001", error_origin::server);
    workers.a->bytes(direction::to_client, 100);
    workers.b->bytes(direction::to_client, 11);
    workers.a->route_corrected();
    workers.a->trait_cache_hit();
    workers.b->trait_cache_miss();
    workers.a->trait_cache_size(10);
    workers.b->trait_cache_size(20);
    workers.a->prepared_statements(2);
    workers.a->prepared_statements(-1);
    workers.a->prepared_replayed();
    const auto text = workers.all.text();
    const std::vector<std::string> expected{
        R"(pgweir_build_info{version="1.2.3"} 1)",
        R"(pgweir_routed_total{rule="default",target="replica",reason="weight"} 1)",
        R"(pgweir_staleness_served_seconds_sum{rule="default"} 2)",
        R"(pgweir_pins{reason="listen"} 1)",
        R"(pgweir_errors_total{class="40",origin="server"} 1)",
        R"(pgweir_bytes_total{direction="to_client"} 111)",
        R"(pgweir_bytes_total{direction="from_server"} 0)",
        "pgweir_route_corrections_total 1",
        "pgweir_trait_cache_hits 1",
        "pgweir_trait_cache_misses 1",
        "pgweir_trait_cache_bytes 30",
        "pgweir_prepared_statements 1",
        "pgweir_prepared_replays_total 1",
    };
    for (const auto& line : expected) {
        CAPTURE(line);
        CHECK(has_line(text, line));
    }
}

TEST_CASE("the topology is asked for at scrape time and only measured replicas have a lag") {
    registry all({.version = "1", .topology = three_servers});
    const auto text = all.text();
    CHECK(has_line(text, R"(pgweir_server_up{cluster="main",server="p",role="primary"} 1)"));
    CHECK(has_line(text, R"(pgweir_server_up{cluster="main",server="x",role="unknown"} 0)"));
    CHECK(has_line(text, R"(pgweir_replica_lag_seconds{cluster="main",server="r"} 0.5)"));
    CHECK(has_line(text, R"(pgweir_replica_lag_bytes{cluster="main",server="r"} 4096)"));
    CHECK(has_line(text, R"(pgweir_replica_weight{cluster="main",server="r"} 0.7)"));
    CHECK(lines_of(text, "pgweir_replica_lag_seconds{").size() == 1);
}

TEST_CASE("a hundred thousand of each name leave the page and the memory bounded") {
    const auto probe = std::make_shared<worker_probe>(100);
    registry all({.version = "1", .topology = {}, .series_limit = 100});
    all.add(probe);
    for (int i = 0; i < 100'000; ++i) {
        const auto name = std::to_string(i);
        probe->query(name, name).finished(query_kind::read, 1us);
        probe->client(name, name).entered(client_state::idle);
        probe->pool(name, name, name).no_wait();
        probe->routed(name, name, name).add();
        probe->staleness(name).observe(1s);
        probe->pins(name).add(1);
        probe->error(name, error_origin::server);
    }
    const auto text = all.text();
    CHECK(lines_of(text, "pgweir_query_seconds_count").size() == 101);
    CHECK(lines_of(text, "pgweir_transactions_total{").size() == 101);
    CHECK(lines_of(text, "pgweir_pool_waiting{").size() == 101);
    CHECK(lines_of(text, "pgweir_wait_seconds_count{").size() == 101);
    CHECK(lines_of(text, "pgweir_routed_total{").size() == 101);
    CHECK(lines_of(text, "pgweir_staleness_served_seconds_count{").size() == 101);
    CHECK(lines_of(text, "pgweir_pins{").size() == 101);
    // 10 to 99, "other" for one digit, and those that are always shown: 08 thrice, three more
    // twice.
    CHECK(lines_of(text, "pgweir_errors_total{").size() == 90 + 1 + 3 + 6);
    CHECK(has_line(text, R"(pgweir_pins{reason="other"} 99900)"));
    CHECK(has_line(text, R"(pgweir_clients{database="other",user="other",state="idle"} 99900)"));
}

TEST_CASE("what several workers bring is bounded together and what was shown stays shown") {
    const auto a = std::make_shared<worker_probe>(3);
    const auto b = std::make_shared<worker_probe>(3);
    registry all({.version = "1", .topology = {}, .series_limit = 3});
    all.add(a);
    all.add(b);
    b->pins("z").add(1);
    CHECK(lines_of(all.text(), "pgweir_pins{").size() == 1);
    for (const auto* name : {"a", "b", "c", "d"}) {
        a->pins(name).add(1);
        b->pins(name).add(1);
    }
    const auto text = all.text();
    CHECK(has_line(text, R"(pgweir_pins{reason="z"} 1)"));
    CHECK(has_line(text, R"(pgweir_pins{reason="a"} 2)"));
    CHECK(has_line(text, R"(pgweir_pins{reason="b"} 2)"));
    CHECK(has_line(text, R"(pgweir_pins{reason="other"} 4)"));
    CHECK(lines_of(text, "pgweir_pins{").size() == 4);
}

TEST_CASE("names no scraper could read are made readable") {
    two_workers workers;
    workers.a->client("d\xFF\"", "u\n").transaction_ended();
    CHECK(has_line(workers.all.text(), R"(pgweir_transactions_total{database="d?\"",user="u?"} 1)")
    );
}

TEST_CASE("a scrape beside a busy worker sees counters that only grow") {
    const auto probe = std::make_shared<worker_probe>();
    registry all({.version = "1", .topology = {}});
    all.add(probe);
    std::atomic<bool> done = false;
    std::thread scraper([&] {
        std::size_t last = 0;
        while (!done) {
            const auto shown = lines_of(all.text(), "pgweir_query_seconds_count{").size();
            CHECK(shown >= last);
            last = shown;
        }
    });
    for (int i = 0; i < 20'000; ++i) {
        probe->query(std::to_string(i / 200), "s").finished(query_kind::read, 1us);
        probe->error("57P01", error_origin::server);
    }
    done = true;
    scraper.join();
    CHECK(lines_of(all.text(), "pgweir_query_seconds_count{").size() == 100);
    CHECK(has_line(all.text(), R"(pgweir_errors_total{class="57",origin="server"} 20000)"));
}

TEST_SUITE_END();
