// What cannot be replayed on another server ties its session to one, and is gone for the next
// client of that server.
#include "tests/integration/state_tools.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.state_pins");

namespace {

struct state {
    std::string name;
    std::vector<std::string> made_by;
    const char* pinned;  // reason in SHOW CLIENTS; "" when it need not pin
    const char* seen;    // true where the state is
};

constexpr const char* table_seen = "select to_regclass('state_t') is not null";
constexpr const char* lock_seen =
    "select exists (select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())";
constexpr const char* channel_seen = "select exists (select from pg_listening_channels())";
constexpr const char* cursor_seen = "select exists (select from pg_cursors where is_holdable)";
constexpr const char* prepared_seen =
    "select exists (select from pg_prepared_statements where from_sql)";

const std::vector<state> states{
    {"temporary table", {"create temp table state_t (x int)"}, "temporary_table", table_seen},
    {"select into temp", {"select 1 as x into temp state_t"}, "temporary_table", table_seen},
    {"temp by schema", {"create table pg_temp.state_t (x int)"}, "temporary_table", table_seen},
    {"temporary view", {"create temp view state_t as select 1"}, "temporary_table", table_seen},
    {"temporary sequence", {"create temp sequence state_t"}, "temporary_table", table_seen},
    {"temp by search_path",
     {"set search_path = pg_temp, public", "create table state_t (x int)"},
     "temporary_table",
     table_seen},
    {"temp in a transaction",
     {"begin", "create temp table state_t (x int)", "commit"},
     "temporary_table",
     table_seen},
    {"listen", {"listen state_channel"}, "listen", channel_seen},
    {"hold cursor",
     {"begin", "declare state_c cursor with hold for select generate_series(1, 10)", "commit"},
     "hold_cursor",
     cursor_seen},
    {"advisory lock", {"select pg_advisory_lock(7)"}, "advisory_lock", lock_seen},
    {"shared lock", {"select pg_advisory_lock_shared(7)"}, "advisory_lock", lock_seen},
    {"tried lock", {"select pg_try_advisory_lock(7, 8)"}, "advisory_lock", lock_seen},
    {"lock outlives a transaction",
     {"begin", "select pg_advisory_lock(7)", "rollback"},
     "advisory_lock",
     lock_seen},
    {"lock of a failed statement",
     {"select pg_advisory_lock(7), 1 / (x - 1) from generate_series(1, 1) x"},
     "advisory_lock",
     lock_seen},
    {"SQL prepare", {"prepare state_p as select 1"}, "prepared_by_sql", prepared_seen},
};

// What hides in code; the session need not be pinned, but nobody else may meet it.
const std::vector<state> hidden{
    {"temp in DO", {"do $$ begin create temp table state_t (x int); end $$"}, "", table_seen},
    {"temp in EXECUTE",
     {"do $$ begin execute 'create temp table state_t (x int)'; end $$"},
     "",
     table_seen},
    {"listen in DO", {"do $$ begin execute 'listen state_channel'; end $$"}, "", channel_seen},
    {"lock in DO", {"do $$ begin perform pg_advisory_lock(7); end $$"}, "", lock_seen},
    {"lock in a new function",
     {"create or replace function state_locks() returns void language sql as "
      "'select pg_advisory_lock(9)'",
      "select state_locks()"},
     "",
     lock_seen},
    {"lock in a new view",
     {"create or replace function state_locks_too() returns int language sql as "
      "'select pg_advisory_lock(9); select 1'",
      "create or replace view state_view as select state_locks_too()",
      "select * from state_view"},
     "",
     lock_seen},
};

void check_made(pq_connection& by, const proxy_process& proxy, const state& what) {
    for (const auto& text : what.made_by) {
        const auto code = by.try_query(text).code();
        CHECK((code.empty() || code == "22012"));
    }
    CHECK(by.value(what.seen) == "t");
    if (*what.pinned != '\0') {
        CHECK(pinned_clients(proxy, what.pinned) == 1);
    }
}

void check_cleaned(
    const proxy_process& proxy,
    const cluster& servers,
    const state& what,
    bool dies
) {
    CAPTURE(what.name);
    CAPTURE(dies);
    {
        pq_connection one(proxy.at(), login_as(servers));
        check_made(one, proxy, what);
        if (dies) {
            vanish(one);
        }
    }
    pq_connection next(proxy.at(), login_as(servers));
    CHECK(next.value(what.seen) == "f");
    CHECK(shown(next, "search_path") == "\"$user\", public");
}

}  // namespace

TEST_CASE("what a session leaves is gone for the next one") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    for (const auto& what : states) {
        check_cleaned(proxy, servers, what, false);
        check_cleaned(proxy, servers, what, true);
    }
}

TEST_CASE("what hides in code is gone for the next session") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    for (const auto& what : hidden) {
        check_cleaned(proxy, servers, what, false);
        check_cleaned(proxy, servers, what, true);
    }
    prepare(
        servers,
        {"drop view if exists state_view",
         "drop function if exists state_locks()",
         "drop function if exists state_locks_too()"}
    );
}

TEST_CASE("a pinned session keeps its server while others work") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    pq_connection pinned(proxy.at(), login_as(servers));
    pq_connection other(proxy.at(), login_as(servers));
    pinned.query("create temp table state_t (x int)");
    const auto pid = pinned.value("select pg_backend_pid()");
    for (int i = 0; i < 20; ++i) {
        CHECK(other.value("select pg_backend_pid()") != pid);
        pinned.query("insert into state_t values (1)");
        CHECK(pinned.value("select pg_backend_pid()") == pid);
    }
    CHECK(pinned.value("select count(*) from state_t") == "20");
    // Nor does an error or a time-out end it (B78).
    CHECK(code_of(pinned, "select 1/0") == "22012");
    pinned.query("set statement_timeout = '50ms'");
    CHECK(code_of(pinned, "select pg_sleep(10)") == "57014");
    CHECK(pinned.value("select count(*) from state_t") == "20");
}

TEST_CASE("B85 a session's advisory lock is unlocked where it was taken") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 3}"));
    pq_connection one(proxy.at(), login_as(servers));
    pq_connection other(proxy.at(), login_as(servers));
    one.query("select pg_advisory_lock(1)");
    CHECK(other.value("select pg_try_advisory_lock(1)") == "f");
    CHECK(one.value("select pg_advisory_unlock(1)") == "t");
    CHECK(other.value("select pg_try_advisory_lock(1)") == "t");
    CHECK(other.value("select pg_advisory_unlock(1)") == "t");
}

TEST_CASE("a lock that ends with its transaction pins nobody") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection one(proxy.at(), login_as(servers));
    one.query("begin");
    one.query("select pg_advisory_xact_lock(1)");
    one.query("commit");
    CHECK(pinned_clients(proxy, "advisory_lock") == 0);
    pq_connection other(proxy.at(), login_as(servers));
    CHECK(other.value("select pg_try_advisory_xact_lock(1)") == "t");
}

TEST_CASE("B87 a WITH HOLD cursor is there at every fetch") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    pq_connection one(proxy.at(), login_as(servers));
    pq_connection other(proxy.at(), login_as(servers));
    one.query("declare state_c cursor with hold for select generate_series(1, 1000)");
    for (int i = 0; i < 10; ++i) {
        const auto rows = one.query("fetch 100 state_c");
        CHECK(rows.rows() == 100);
        CHECK(rows.at(0, 0) == std::to_string(i * 100 + 1));
        other.query("select 1");
    }
    one.query("close state_c");
}

TEST_CASE("LOAD pins and its session goes on") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    pq_connection one(proxy.at(), login_as(servers, "postgres"));
    one.query("LOAD 'vector'");
    CHECK(pinned_clients(proxy, "load") == 1);
    const auto pid = one.value("select pg_backend_pid()");
    CHECK(one.value("select pg_backend_pid()") == pid);
    // Refused to ordinary users by PostgreSQL.
    pq_connection other(proxy.at(), login_as(servers));
    CHECK(code_of(other, "LOAD 'vector'") == "42501");
    CHECK(other.value("select 1") == "1");
}

TEST_CASE("the clean-up counts its pins and gives the server back") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    std::string pid;
    for (int i = 0; i < 5; ++i) {
        pq_connection one(proxy.at(), login_as(servers));
        one.query("create temp table state_t (x int)");
        const auto now = one.value("select pg_backend_pid()");
        CHECK((pid.empty() || pid == now));
        pid = now;
        CHECK(proxy.metric("pgweir_pins", {{"reason", "temporary_table"}}) == 1);
    }
    pq_connection next(proxy.at(), login_as(servers));
    CHECK(next.value("select pg_backend_pid()") == pid);
    CHECK(proxy.metric("pgweir_pins") == 0);
}

TEST_SUITE_END();

}  // namespace weir::integration
