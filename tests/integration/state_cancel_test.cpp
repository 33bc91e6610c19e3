// Cancel requests: they reach the statement they were meant for, in the queue too, and never
// anybody else's.
#include "tests/integration/slow_cancel_relay.hpp"
#include "tests/integration/state_tools.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.state_cancel");

namespace {

// Waits until a statement with that text runs for that many sessions of app.
bool runs(const cluster& servers, const std::string& text, int count = 1) {
    auto direct = superuser(servers);
    return wait_until([&] {
        return direct.value(
                   "select count(*) from pg_stat_activity where usename = 'app' and "
                   "state = 'active' and query = '" +
                   text + "'"
               ) == std::to_string(count);
    });
}

constexpr const char* long_sleep = "select pg_sleep(60)";

void cancel_in_queue(const proxy_process& proxy, wire_client& client, const script& what) {
    client.send(what);
    REQUIRE(wait_until([&] { return waiting_clients(proxy) == 1; }));
    client.cancel(proxy.at());
}

struct storm_counts {
    std::atomic<int> rounds = 0;        // statements that were cancelled or came through
    std::atomic<int> own = 0;           // 57014 for who asked for it
    std::atomic<int> late = 0;          // 57014 for a statement sent behind the cancel's end
    std::atomic<int> foreign = 0;       // 57014 for somebody else
    std::atomic<int> foreign_runs = 0;  // statements of the others
    std::atomic<int> other = 0;         // anything else
};

// Cancels each of its statements at about the time it ends, some in the queue before it begins.
void canceller(const endpoint& at, const login& as, int rounds, storm_counts& counts) {
    pq_connection client(at, as);
    for (int i = 0; i < rounds; ++i) {
        start(client, "select pg_sleep(0.002)");
        std::this_thread::sleep_for(std::chrono::microseconds(i * 1271 % 10000));
        cancel(client);
        const auto code = receive(client).code();
        counts.own += code == "57014" ? 1 : 0;
        counts.other += code != "57014" && !code.empty() ? 1 : 0;
        const auto next = client.try_query("select 1").code();
        counts.late += next == "57014" ? 1 : 0;
        counts.other += next != "57014" && !next.empty() ? 1 : 0;
        ++counts.rounds;
    }
}

void bystander(
    const endpoint& at,
    const login& as,
    bool extended,
    const std::atomic<bool>& end,
    storm_counts& counts
) {
    pq_connection client(at, as);
    while (!end) {
        const auto answer = extended ? client.try_query("select pg_sleep($1)", {"0.003"})
                                     : client.try_query("select pg_sleep(0.003)");
        const auto code = answer.code();
        counts.foreign += code == "57014" ? 1 : 0;
        counts.other += code != "57014" && !code.empty() ? 1 : 0;
        ++counts.foreign_runs;
    }
}

// A thread that counts an exception instead of ending the program.
template <class Body>
std::jthread guarded(storm_counts& counts, Body body) {
    return std::jthread([&counts, body] {
        try {
            body();
        } catch (const std::exception&) {
            ++counts.other;
        }
    });
}

void storm(
    const endpoint& at,
    const login& as,
    std::size_t pool,
    int rounds,
    storm_counts& counts
) {
    std::atomic<bool> end = false;
    std::vector<std::jthread> others(pool);
    for (std::size_t i = 0; i < pool; ++i) {
        const bool extended = i % 2 == 1;
        others[i] = guarded(counts, [&, extended] { bystander(at, as, extended, end, counts); });
    }
    std::vector<std::jthread> cancellers(2);
    for (auto& each : cancellers) {
        each = guarded(counts, [&] { canceller(at, as, rounds / 2, counts); });
    }
    cancellers.clear();
    end = true;
}

}  // namespace

// The long form does 20 000 rounds in all.
TEST_CASE("B73 cancels in a storm hit nobody else") {
    auto& servers = cluster::shared();
    for (const std::size_t pool : {1, 2, 4, 8}) {
        for (const unsigned workers : {1U, 2U}) {
            CAPTURE(pool);
            CAPTURE(workers);
            proxy_process proxy(
                servers,
                one_server("{size: " + std::to_string(pool) + "}", workers)
            );
            storm_counts counts;
            storm(proxy.at(), login_as(servers), pool, long_form() ? 2500 : 300, counts);
            CHECK(counts.foreign == 0);
            CHECK(counts.late == 0);
            CHECK(counts.other == 0);
            CHECK(counts.rounds == (long_form() ? 2500 : 300));
            CHECK(counts.foreign_runs > 0);
            CHECK(counts.own > 0);
            MESSAGE(
                "pool ",
                pool,
                ": ",
                counts.own.load(),
                " cancelled, ",
                counts.foreign_runs.load(),
                " statements of others"
            );
        }
    }
}

TEST_CASE("B73 cancels that are slow on their way hit nobody else") {
    auto& servers = cluster::shared();
    for (const std::size_t pool : {1, 2}) {
        CAPTURE(pool);
        slow_cancel_relay relay(servers.primary().at, 300ms);
        auto options = one_server("{size: " + std::to_string(pool) + "}");
        options.relays = {{servers.primary().name, relay.port()}};
        proxy_process proxy(servers, options);
        storm_counts counts;
        storm(proxy.at(), login_as(servers), pool, long_form() ? 1000 : 20, counts);
        CHECK(counts.foreign == 0);
        CHECK(counts.late == 0);
        CHECK(counts.other == 0);
        CHECK(relay.cancels() > 0);
    }
}

TEST_CASE("a cancel ends the statement that runs") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection one(proxy.at(), login_as(servers));
    start(one, long_sleep);
    REQUIRE(runs(servers, long_sleep));
    cancel(one);
    CHECK(receive(one).code() == "57014");
    CHECK(one.value("select 1") == "1");
    one.query("begin");
    start(one, long_sleep);
    REQUIRE(runs(servers, long_sleep));
    cancel(one);
    CHECK(receive(one).code() == "57014");
    CHECK(code_of(one, "select 1") == "25P02");
    one.query("rollback");
    CHECK(one.value("select 1") == "1");
}

TEST_CASE("B74 a cancel works while the pool is full") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection one(proxy.at(), login_as(servers));
    pq_connection queued(proxy.at(), login_as(servers));
    start(one, long_sleep);
    REQUIRE(runs(servers, long_sleep));
    start(queued, "select 2");
    REQUIRE(wait_until([&] { return waiting_clients(proxy) == 1; }));
    cancel(one);
    CHECK(receive(one).code() == "57014");
    const auto answer = receive(queued);
    CHECK(answer.at(0, 0) == "2");
}

TEST_CASE("B75 a queued client is cancelled in the queue") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection holder(proxy.at(), login_as(servers));
    wire_client queued(proxy.at(), login_as(servers));
    holder.query("begin");
    cancel_in_queue(proxy, queued, script().query("select 1"));
    CHECK(kinds(queued.read_ready()) == "E(57014) Z(I)");
    // In extended mode the error comes now and ReadyForQuery at the Sync.
    cancel_in_queue(proxy, queued, script().extended("select $1::int", {"1"}));
    CHECK(kinds(queued.read_ready()) == "E(57014) Z(I)");
    holder.query("commit");
    CHECK(queued.value("select 2") == "2");
    CHECK(kinds(queued.ask(script().extended("select $1::int", {"3"}))) == "1 2 T D C Z(I)");
}

TEST_CASE("B75 what a cancelled client has pipelined behind is still answered") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection holder(proxy.at(), login_as(servers));
    wire_client queued(proxy.at(), login_as(servers));
    holder.query("begin");
    cancel_in_queue(proxy, queued, script().query("select 1").query("select 2"));
    CHECK(kinds(queued.read_ready()) == "E(57014) Z(I)");
    holder.query("commit");
    const auto second = queued.read_ready();
    CHECK(kinds(second) == "T D C Z(I)");
    CHECK(second[1].column(0) == "2");
}

TEST_CASE("a cancel for nobody is closed without a word") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection one(proxy.at(), login_as(servers));
    cancel(one);  // idle
    CHECK(one.value("select 1") == "1");
    for (const auto& key : {std::string(8, '\1'), std::string(4, '\0')}) {
        wire_client wrong(proxy.at());
        std::string packet("\0\0\0\0\x04\xd2\x16\x2e", 8);
        packet[3] = static_cast<char>(8 + key.size());
        wrong.send(packet + key);
        CHECK(wrong.read_to_end().empty());
    }
    CHECK(one.value("select 1") == "1");
}

TEST_CASE("B76 statements of the proxy itself are not cancelled") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    auto as = login_as(servers);
    as.options = "options='-c TimeZone=Asia/Tokyo'";
    pq_connection tokyo(proxy.at(), as);
    pq_connection other(proxy.at(), login_as(servers));
    std::atomic<bool> end = false;
    std::atomic<int> wrong = 0;
    {
        std::jthread cancelling([&] {
            while (!end) {
                cancel(tokyo);
            }
        });
        for (int i = 0; i < (long_form() ? 5000 : 200); ++i) {
            const auto mine = tokyo.try_query("show TimeZone");
            const auto theirs = other.try_query("show TimeZone");
            wrong += mine.ok() ? (mine.at(0, 0) == "Asia/Tokyo" ? 0 : 1)
                               : (mine.code() == "57014" ? 0 : 1);
            wrong += theirs.ok() && theirs.at(0, 0) != "Asia/Tokyo" ? 0 : 1;
        }
        end = true;
    }
    CHECK(wrong == 0);
}

TEST_SUITE_END();

}  // namespace weir::integration
