// Transactions that lose one of their ends: the server, or the client.
#include "tests/integration/state_tools.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.state_transactions");

namespace {

void make_table(const cluster& servers) {
    prepare(
        servers,
        {"create table if not exists state_rows (x int)",
         "grant all on state_rows to public",
         "truncate state_rows"}
    );
}

std::string rows(const cluster& servers) {
    return superuser(servers).value("select count(*) from state_rows");
}

void kill_backend(const cluster& servers, const std::string& pid) {
    auto direct = superuser(servers);
    direct.query("select pg_terminate_backend(" + pid + ")");
    REQUIRE(wait_until([&] {
        return direct.value("select count(*) from pg_stat_activity where pid = " + pid) == "0";
    }));
}

// Returns when the server runs it.
void start_sleeping(pq_connection& client, const cluster& servers) {
    start(client, "select pg_sleep(60)");
    auto direct = superuser(servers);
    REQUIRE(wait_until([&] {
        return direct.value(
                   "select count(*) from pg_stat_activity where usename = 'app' and "
                   "query = 'select pg_sleep(60)' and state = 'active'"
               ) == "1";
    }));
}

}  // namespace

TEST_CASE("B93 a transaction whose server has died fails as a whole") {
    auto& servers = cluster::shared();
    make_table(servers);
    for (const unsigned workers : {1U, 2U}) {
        proxy_process proxy(servers, one_server("{size: 2}", workers));
        for (const bool extended : {false, true}) {
            CAPTURE(extended);
            pq_connection one(proxy.at(), login_as(servers));
            one.query("begin");
            one.query("insert into state_rows values (1)");
            kill_backend(servers, one.value("select pg_backend_pid()"));
            const auto second = extended
                                    ? one.try_query("insert into state_rows values ($1)", {"2"})
                                    : one.try_query("insert into state_rows values (2)");
            CHECK_FALSE(second.ok());
            CHECK_FALSE(one.try_query("commit").ok());
            CHECK(rows(servers) == "0");
            pq_connection next(proxy.at(), login_as(servers));
            CHECK(next.value("select 1") == "1");
        }
    }
}

TEST_CASE("B93 a write that was under way is not tried again") {
    auto& servers = cluster::shared();
    make_table(servers);
    proxy_process proxy(servers, one_server("{size: 2}"));
    pq_connection one(proxy.at(), login_as(servers));
    start(one, "insert into state_rows select 1 from pg_sleep(20)");
    auto direct = superuser(servers);
    REQUIRE(wait_until([&] {
        return direct.value(
                   "select count(pg_terminate_backend(pid)) from pg_stat_activity where "
                   "usename = 'app' and query like 'insert into state_rows%'"
               ) == "1";
    }));
    CHECK(receive(one).code() == "57P01");
    CHECK(one.value("select 1") == "1");  // outside a transaction the session lives on
    CHECK(rows(servers) == "0");
}

TEST_CASE("a statement's error leaves the transaction to its client") {
    auto& servers = cluster::shared();
    make_table(servers);
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection one(proxy.at(), login_as(servers));
    one.query("begin");
    one.query("insert into state_rows values (1)");
    one.query("savepoint a");
    CHECK(one.try_query("select 1 / $1::int", {"0"}).code() == "22012");
    CHECK(code_of(one, "select 1") == "25P02");
    one.query("rollback to a");
    CHECK(one.value("select 1") == "1");
    one.query("commit");
    CHECK(rows(servers) == "1");
}

TEST_CASE("B96 a client killed inside a transaction costs no server connection") {
    auto& servers = cluster::shared();
    make_table(servers);
    proxy_process proxy(servers, one_server("{size: 1}"));
    std::string pid;
    for (int i = 0; i < 20; ++i) {
        pq_connection one(proxy.at(), login_as(servers));
        one.query("begin");
        one.query("insert into state_rows values (1)");
        const auto now = one.value("select pg_backend_pid()");
        CHECK((pid.empty() || pid == now));
        pid = now;
        vanish(one);
    }
    pq_connection next(proxy.at(), login_as(servers));
    CHECK(next.value("select pg_backend_pid()") == pid);
    CHECK(rows(servers) == "0");
}

TEST_CASE("B96 what a killed client was running is cancelled and rolled back") {
    auto& servers = cluster::shared();
    make_table(servers);
    proxy_process proxy(servers, one_server("{size: 1}"));
    for (int i = 0; i < 5; ++i) {
        pq_connection one(proxy.at(), login_as(servers));
        one.query("begin");
        one.query("insert into state_rows values (1)");
        start_sleeping(one, servers);
        vanish(one);
        pq_connection next(proxy.at(), login_as(servers));
        CHECK(next.value("select 1") == "1");  // long before the minute is over
    }
    CHECK(rows(servers) == "0");
}

TEST_CASE("a client killed in a COPY leaves nothing") {
    auto& servers = cluster::shared();
    make_table(servers);
    proxy_process proxy(servers, one_server("{size: 1}"));
    {
        pq_connection one(proxy.at(), login_as(servers));
        CHECK(PQresultStatus(one.try_query("copy state_rows from stdin").get()) == PGRES_COPY_IN);
        CHECK(PQputCopyData(one.get(), "1\n", 2) == 1);
        vanish(one);
    }
    {
        pq_connection one(proxy.at(), login_as(servers));
        CHECK(one.value("select 1") == "1");
        const auto copying = one.try_query("copy (select generate_series(1, 2000000)) to stdout");
        CHECK(PQresultStatus(copying.get()) == PGRES_COPY_OUT);
        vanish(one);
    }
    pq_connection next(proxy.at(), login_as(servers));
    CHECK(next.value("select 1") == "1");
    CHECK(rows(servers) == "0");
}

TEST_SUITE_END();

}  // namespace weir::integration
