// Which kind of server gets which statement, seen from outside.
#include "tests/integration/support/traffic.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace weir::integration {
namespace {

// Every read that may leave the primary does: whatever is on it, has to be.
proxy_options all_reads_on_replicas() {
    proxy_options options;
    options.lines = {
        "routing: {rules: [{name: reads, match: {kind: read}, consistency: eventual}]}"};
    return options;
}

// What runs here must have been decided for the primary, by the statement itself.
void check_primary(
    const proxy_process& proxy,
    const std::string& sql,
    const std::function<pq_result()>& run
) {
    CAPTURE(sql);
    const double replica = routed(proxy, "replica");
    const double write = routed(proxy, "primary", "write");
    const double function = routed(proxy, "primary", "function");
    const auto result = run();
    CAPTURE(result.message());
    CHECK(result.code() == "");
    CHECK(routed(proxy, "replica") == replica);
    CHECK(
        routed(proxy, "primary", "write") + routed(proxy, "primary", "function") ==
        write + function + 1
    );
}

struct target_fixture {
    target_fixture()
        : proxy(cluster::shared(), prepared()), client(proxy.at(), login_as(cluster::shared())) {
        wait_for_routing(proxy, cluster::shared(), "routed_items");
    }

    static proxy_options prepared() {
        make_items(cluster::shared(), "routed_items");
        pq_connection direct(cluster::shared().primary().at, login_as(cluster::shared()));
        direct.query(
            "drop sequence if exists routed_seq; create sequence routed_seq;"
            "create or replace function routed_write() returns int language sql as"
            " $$ update routed_items set t = 'f' where id = 7 returning id $$;"
            "create or replace function routed_stable() returns bigint language plpgsql stable as"
            " $$ begin return nextval('routed_seq'); end $$;"
            "drop operator if exists ### (none, int);"
            "create or replace function routed_operator(int) returns int language plpgsql "
            "immutable as"
            " $$ begin perform nextval('routed_seq'); return $1; end $$;"
            "create operator ### (rightarg = int, function = routed_operator);"
            "create view routed_view as select id, nextval('routed_seq') as n from routed_items;"
            "create view routed_lock as select id from routed_items for update;"
            "create view routed_plain as select id from routed_items"
        );
        cluster::shared().catch_up();
        return all_reads_on_replicas();
    }

    void on_primary(const std::string& sql) {
        check_primary(proxy, sql, [&] { return client.try_query(sql); });
    }

    void on_primary_extended(const std::string& sql) {
        check_primary(proxy, sql, [&] { return client.try_query(sql, {}); });
    }

    proxy_process proxy;
    pq_connection client;
};

const std::string cte =
    "with u as (update routed_items set t = 'u' where id = 3 returning id) select * from u";

}  // namespace

TEST_SUITE_BEGIN("integration.routing_target");

TEST_CASE("writes and strong reads are the primary's and vector searches the replicas'") {
    auto& servers = cluster::shared();
    make_items(servers, "routed_default");
    proxy_process proxy(servers);
    wait_for_routing(proxy, servers, "routed_default");
    pq_connection client(proxy.at(), login_as(servers));
    const auto vectors = served(proxy, "vector");
    for (int i = 0; i < 400; ++i) {
        client.query(search("routed_default"));
    }
    const auto spread = difference(vectors, served(proxy, "vector"));
    CHECK(spread.size() == 2);
    CHECK(spread.at("n2") + spread.at("n3") == 400);
    CHECK(spread.at("n2") > 120);  // 200 expected, 10 is one standard deviation
    CHECK(spread.at("n3") > 120);

    const auto reads = served(proxy, "read");
    const auto writes = served(proxy, "write");
    for (int i = 0; i < 20; ++i) {
        client.query("select t from routed_default where id = 5");
        client.query("update routed_default set t = 'z' where id = 5");
    }
    CHECK(difference(reads, served(proxy, "read")) == std::map<std::string, double>{{"n1", 20}});
    CHECK(difference(writes, served(proxy, "write")) == std::map<std::string, double>{{"n1", 20}});
}

TEST_CASE_FIXTURE(target_fixture, "reads that are safe do leave the primary") {
    for (const char* const sql :
         {"select id from routed_items where id = 1",
          "select count(*) from routed_items",
          "select * from routed_plain where id < 3",
          "with a as (select 1 as x) select x from a",
          "select now(), random(), clock_timestamp()",
          "explain select id from routed_items",
          "copy (select id from routed_items where id < 3) to stdout",
          "table routed_plain",
          "values (1), (2)",
          "select t like 'x%', coalesce(t, ''), length(t) from routed_items where id = 1"}) {
        CAPTURE(sql);
        // The writes of the fixture's other tests are not this session's.
        const double before = routed(proxy, "replica");
        client.try_query(sql);
        CHECK(routed(proxy, "replica") == before + 1);
        if (std::string(sql).find("copy") == 0) {
            char* line = nullptr;
            while (PQgetCopyData(client.get(), &line, 0) > 0) {
                PQfreemem(line);
            }
            const pq_result last(PQgetResult(client.get()));
        }
    }
}

TEST_CASE_FIXTURE(target_fixture, "B110 a data-modifying CTE is the primary's wherever it stands") {
    const std::string conflict = " on conflict do nothing";
    for (const auto& sql : std::vector<std::string>{
             cte,
             "with x as (select 5 as id) insert into routed_items select id, '[1,1,1]' from x" +
                 conflict,
             "/* a */ -- b\n (\n(" + cte + "))",
             "explain analyze " + cte,
             "explain (analyze, format json) " + cte,
             "with u as\n(update routed_items\nset t = 'v'\nwhere id = 3)\nselect 1"}) {
        on_primary(sql);
        on_primary_extended(sql);
    }
    // PostgreSQL refuses it deeper down; that the primary refuses it is what counts.
    const double before = routed(proxy, "primary", "write");
    CHECK(client.try_query("select * from (" + cte + ") s").code() == "0A000");
    CHECK(routed(proxy, "primary", "write") == before + 1);
    CHECK(client.value("select t from routed_items where id = 3") == "v");
}

TEST_CASE_FIXTURE(
    target_fixture,
    "B110 COPY and PREPARE of a data-modifying CTE are the primary's"
) {
    const double before = routed(proxy, "primary", "write");
    wire_client raw(proxy.at(), login_as(cluster::shared()));
    const auto copied = raw.ask(script().query("copy (" + cte + ") to stdout"));
    CHECK(kinds(copied) == "H d c C Z(I)");
    CHECK(routed(proxy, "primary", "write") == before + 1);
    CHECK(routed(proxy, "replica") == 0);
    const auto prepared = raw.ask(script().query("prepare p as " + cte).query("execute p"), 2);
    CHECK(kinds(prepared) == "C Z(I) T D C Z(I)");
    CHECK(routed(proxy, "replica") == 0);
}

TEST_CASE_FIXTURE(
    target_fixture,
    "B111 locking reads and what cannot be parsed are the primary's"
) {
    const std::string from = "select id from routed_items where id < 3";
    for (const auto& sql : std::vector<std::string>{
             from + " for update",
             from + " for no key update",
             from + " for share",
             from + " for key share",
             from + " for update nowait",
             from + " for no key update of routed_items skip locked",
             "select * from (" + from + " for share) s",
             "select 1 where exists (" + from + " for update)",
             "with l as (" + from + " for key share) select * from l",
             "(" + from + ") for update",
             "select * from routed_lock where id < 3"}) {
        on_primary(sql);
        on_primary_extended(sql);
    }
    on_primary("begin; lock table routed_items in access share mode; commit");
}

TEST_CASE_FIXTURE(
    target_fixture,
    "B111 a statement that the parser does not know is the primary's and is counted"
) {
    const double before = routed(proxy, "primary", "write");
    // Syntax of a release that is not there yet: refused by the server, not by the proxy.
    const auto refused = client.try_query("select id from routed_items grab them quickly");
    CHECK(refused.code() == "42601");
    CHECK(routed(proxy, "primary", "write") == before + 1);
    CHECK(routed(proxy, "replica") == 0);
}

TEST_CASE_FIXTURE(
    target_fixture,
    "B112 a SELECT with a function not proven safe is the primary's"
) {
    for (const char* const sql :
         {"select nextval('routed_seq')",
          "select setval('routed_seq', 10)",
          "select routed_write()",
          "select * from routed_write()",
          "select pg_notify('c', '')",
          "select pg_try_advisory_xact_lock(1)",
          "select txid_current()",
          "select id from routed_items where id = routed_stable()",
          "select * from routed_view limit 1",
          "select ### 5",
          "select id from routed_items order by routed_stable() limit 1",
          "select lo_unlink(lo_create(0))",
          "select pg_is_in_recovery()",
          "select inet_server_port()",
          "select count(*) from pg_stat_activity",
          "select case when false then nextval('routed_seq') end",
          "select array(select nextval('routed_seq'))",
          "select pg_current_wal_lsn()"}) {
        on_primary(sql);
        on_primary_extended(sql);
    }
}

TEST_CASE_FIXTURE(target_fixture, "B112 a function made a moment ago is the primary's") {
    client.query(
        "create or replace function routed_new() returns int language sql stable as $$ select 1 $$"
    );
    on_primary("select routed_new()");
    client.query("drop function routed_new()");
}

TEST_SUITE_END();

}  // namespace weir::integration
