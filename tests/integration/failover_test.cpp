// The primary goes and another one comes: what clients see of it. Every case has a cluster of its
// own.
#include "tests/integration/support/traffic.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace weir::integration {
namespace {

constexpr const char* table = "routed_failover";

proxy_options waiting(const std::string& wait) {
    proxy_options options;
    options.lag = "{slow_start: 0s}";
    options.cluster_lines = {"failover: {wait: " + wait + "}"};
    return options;
}

std::string insert(int id) {
    return std::string("insert into ") + table + " (id, v) values (" + std::to_string(id) +
           ", '[1,1,1]') returning current_setting('port')";
}

std::string port_of(const cluster& servers, const char* node) {
    return std::to_string(servers.node(node).at.port);
}

// A statement on its way.
class pending {
public:
    pending(const proxy_process& proxy, const cluster& servers, const std::string& sql)
        : client_(proxy.at(), login_as(servers)) {
        if (PQsendQuery(client_.get(), sql.c_str()) != 1) {
            throw std::runtime_error(client_.error());
        }
    }

    [[nodiscard]] bool answered() {
        PQconsumeInput(client_.get());
        return PQisBusy(client_.get()) == 0;
    }

    pq_result answer() {
        const bool came = wait_until([&] { return answered(); }, 40s);
        if (!came) {
            throw std::runtime_error("no answer");
        }
        pq_result first(PQgetResult(client_.get()));
        while (PGresult* more = PQgetResult(client_.get())) {
            PQclear(more);
        }
        return first;
    }

    pq_connection& client() { return client_; }

private:
    pq_connection client_;
};

bool is_loss(const std::string& code) {
    return code == "08006" || code == "57P01";
}

void wait_until_active(const cluster& servers, const char* node, const std::string& text) {
    pq_connection direct(servers.node(node).at, login_as(servers, "postgres"));
    CHECK(wait_until([&] {
        return direct.value(
                   "select count(*) from pg_stat_activity where pid <> pg_backend_pid() and state "
                   "= 'active'"
                   " and query like '%" +
                   text + "%'"
               ) != "0";
    }));
}

void wait_until_no_primary(const proxy_process& proxy, const cluster& servers) {
    console asked(proxy, servers);
    const bool gone = wait_until([&] {
        const auto now = asked.topology();
        return std::none_of(now.begin(), now.end(), [](const auto& each) {
            return each.second.role == "primary" && each.second.up;
        });
    });
    REQUIRE(gone);
}

// Sooner or later a search of this client is served by a replica.
bool gets_a_replica(const proxy_process& proxy, pq_connection& client) {
    return wait_until([&] {
        const double before = routed(proxy, "replica");
        client.query(search(table));
        return routed(proxy, "replica") > before;
    });
}

// /readyz for load balancers; /healthz only says that the proxy lives.
void check_ready(const proxy_process& proxy, int status, bool reads, bool writes) {
    const auto text = [](bool value) { return std::string(value ? "true" : "false"); };
    const auto answer = http_get(proxy.http(), "/readyz");
    CHECK(answer.status == status);
    CHECK(
        answer.body == "{\"ready\":" + text(reads || writes) +
                           ",\"clusters\":{\"main\":{\"reads\":" + text(reads) +
                           ",\"writes\":" + text(writes) + "}}}\n"
    );
    CHECK(http_get(proxy.http(), "/healthz").status == 200);
}

// One client that searches and one that writes, without a pause.
class steady_clients {
public:
    steady_clients(const proxy_process& proxy, const cluster& servers)
        : reader_([&] { read(pq_connection(proxy.at(), login_as(servers))); }),
          writer_([&] { write(pq_connection(proxy.at(), login_as(servers))); }) {}

    ~steady_clients() { stop(); }

    steady_clients(const steady_clients&) = delete;
    steady_clients& operator=(const steady_clients&) = delete;

    void stop() {
        over = true;
        if (reader_.joinable()) {
            reader_.join();
            writer_.join();
        }
    }

    std::atomic<bool> over{false};
    std::atomic<int> reads{0};
    std::atomic<int> failed_reads{0};
    std::atomic<int> writes{0};
    // To be looked at behind stop().
    std::string acknowledged = "0";  // ids with commas
    std::vector<std::string> errors;

private:
    void read(pq_connection client) {
        while (!over) {
            const bool good = client.try_query(search(table)).rows() == 1;
            ++(good ? reads : failed_reads);
        }
    }

    void write(pq_connection client) {
        for (int id = 2000; !over; ++id) {
            const auto result = client.try_query(insert(id));
            if (result.ok()) {
                acknowledged += "," + std::to_string(id);
                ++writes;
            } else {
                errors.push_back(result.code());
            }
        }
    }

    std::thread reader_;
    std::thread writer_;
};

void check_rejoined(const proxy_process& proxy, const cluster& servers, const char* node) {
    console asked(proxy, servers);
    CHECK(wait_until([&] {
        const auto now = asked.topology().at(node);
        return now.role == "replica" && now.weight > 0.5 && now.timeline == 2;
    }));
    pq_connection client(proxy.at(), login_as(servers));
    const auto before = served(proxy);
    for (int i = 0; i < 200; ++i) {
        client.query(search(table));
    }
    CHECK(difference(before, served(proxy))[node] > 40);
}

}  // namespace

TEST_SUITE_BEGIN("integration.failover");

TEST_CASE("after a killed primary what was sent fails honestly and what waits runs on the new one"
) {
    const auto servers = cluster::start_own("failover", "--replicas 2");
    make_items(servers, table, 100);
    proxy_process proxy(servers, waiting("30s"));
    wait_for_routing(proxy, servers, table);
    pq_connection survivor(proxy.at(), login_as(servers));
    CHECK(survivor.value(insert(1001)) == port_of(servers, "n1"));
    CHECK(gets_a_replica(proxy, survivor));
    pending running(proxy, servers, "select pg_sleep(300), 'running_failover'");
    pending in_transaction(
        proxy,
        servers,
        "begin; select pg_sleep(300), 'in_transaction_failover'"
    );
    pq_connection idle_in_transaction(proxy.at(), login_as(servers));
    idle_in_transaction.query("begin; select 1");
    wait_until_active(servers, "n1", "running_failover");
    wait_until_active(servers, "n1", "in_transaction_failover");
    servers.catch_up();

    servers.tool("kill n1");
    const auto killed = std::chrono::steady_clock::now();
    CHECK(is_loss(running.answer().code()));
    CHECK(is_loss(in_transaction.answer().code()));
    // What its transaction held is gone, so this client may not go on.
    CHECK(!idle_in_transaction.try_query("select 1").ok());
    CHECK(!idle_in_transaction.ok());
    wait_until_no_primary(proxy, servers);
    check_ready(proxy, 200, true, false);

    // Reads that may be old go on without a primary, at once; writes wait.
    CHECK(pq_connection(proxy.at(), login_as(servers)).query(search(table)).rows() == 1);
    pending first(proxy, servers, insert(1002));
    pending second(proxy, servers, insert(1003));
    CHECK(PQsendQuery(running.client().get(), insert(1004).c_str()) == 1);
    CHECK(!first.answered());
    servers.tool("promote n2");
    CHECK(first.answer().at(0, 0) == port_of(servers, "n2"));
    MESSAGE(
        "first good write after the kill, the promotion included: ",
        std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - killed).count(),
        " ms"
    );
    CHECK(second.answer().at(0, 0) == port_of(servers, "n2"));
    CHECK(running.answer().at(0, 0) == port_of(servers, "n2"));
    CHECK(survivor.value(insert(1005)) == port_of(servers, "n2"));
    CHECK(survivor.value(std::string("select count(*) from ") + table + " where id > 1000") == "5");

    servers.tool("rejoin n3 --primary n2");
    check_rejoined(proxy, servers, "n3");
    servers.tool("rejoin n1 --primary n2");
    check_rejoined(proxy, servers, "n1");
    // A session that wrote on the old timeline gets replicas again as well.
    CHECK(gets_a_replica(proxy, survivor));
    check_ready(proxy, 200, true, true);
}

TEST_CASE("after a planned switchover no read fails and no write is lost") {
    const auto servers = cluster::start_own("switchover", "--replicas 2");
    make_items(servers, table, 100);
    proxy_process proxy(servers, waiting("30s"));
    wait_for_routing(proxy, servers, table);
    pending running(proxy, servers, "select pg_sleep(300), 'running_switchover'");
    wait_until_active(servers, "n1", "running_switchover");

    steady_clients clients(proxy, servers);
    CHECK(wait_until([&] { return clients.writes > 50 && clients.reads > 50; }));
    servers.tool("stop n1 fast");
    CHECK(is_loss(running.answer().code()));
    const int before = clients.writes;
    servers.tool("promote n2");
    CHECK(wait_until([&] { return clients.writes > before + 50; }));
    clients.stop();
    MESSAGE(clients.reads.load(), " reads, ", clients.writes.load(), " writes");
    CHECK(clients.failed_reads == 0);
    CHECK(clients.errors.size() <= 1);  // the one that was on its way
    for (const auto& code : clients.errors) {
        CHECK(is_loss(code));
    }
    pq_connection direct(servers.node("n2").at, login_as(servers));
    CHECK(
        direct.value(
            std::string("select count(*) from ") + table + " where id in (" + clients.acknowledged +
            ")"
        ) == std::to_string(clients.writes)
    );
}

TEST_CASE("with two writable servers writes wait until one is left") {
    const auto servers = cluster::start_own("twins", "--replicas 2");
    make_items(servers, table, 100);
    proxy_process proxy(servers, waiting("30s"));
    wait_for_routing(proxy, servers, table);
    CHECK(pq_connection(proxy.at(), login_as(servers)).value("select 1") == "1");
    servers.tool("promote n2");
    console asked(proxy, servers);
    REQUIRE(wait_until([&] {
        const auto now = asked.topology();
        return now.at("n1").role == "primary" && now.at("n2").role == "primary";
    }));
    pending write(proxy, servers, insert(3001));
    sample_counter samples(asked, "n1");
    REQUIRE(samples.wait_for(3));
    CHECK(!write.answered());
    servers.tool("stop n1 immediate");
    CHECK(write.answer().at(0, 0) == port_of(servers, "n2"));
}

TEST_CASE("without a primary in time a write gets 57P03 and its session goes on") {
    const auto servers = cluster::start_own("headless", "--replicas 1");
    make_items(servers, table, 100);
    proxy_process proxy(servers, waiting("100ms"));
    wait_for_routing(proxy, servers, table);
    pq_connection client(proxy.at(), login_as(servers));
    CHECK(client.value(insert(4001)) == port_of(servers, "n1"));
    servers.tool("stop n1 fast");
    wait_until_no_primary(proxy, servers);
    CHECK(client.try_query(insert(4002)).code() == "57P03");
    CHECK(client.try_query(insert(4003), {}).code() == "57P03");
    servers.tool("stop n2 fast");
    CHECK(wait_until([&] { return http_get(proxy.http(), "/readyz").status == 503; }));
    check_ready(proxy, 503, false, false);
    servers.tool("start-node n1");
    CHECK(wait_until([&] { return client.try_query(insert(4004)).ok(); }));
    CHECK(client.value(std::string("select count(*) from ") + table + " where id > 4000") == "2");
}

TEST_SUITE_END();

}  // namespace weir::integration
