// What a session's earlier statements, its protocol and the rules' settings do to its routes.
#include "tests/integration/support/traffic.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace weir::integration {
namespace {

proxy_options eventual_reads() {
    proxy_options options;
    options.lines = {
        "routing: {rules: [{name: reads, match: {kind: read}, consistency: eventual}]}"};
    return options;
}

// Names of the servers that answered while this ran, as "n1" or "n2 n3".
std::string servers_of(const proxy_process& proxy, const std::function<void()>& run) {
    const auto before = served(proxy, "");
    run();
    std::string names;
    for (const auto& [name, count] : difference(before, served(proxy, ""))) {
        names += (names.empty() ? "" : " ") + name;
    }
    return names;
}

// The row of that number, found the way of a vector search, so that a replica may answer.
std::string search_row(int id) {
    return "select id from routed_own where id = " + std::to_string(id) +
           " order by v <-> '[0.1,0.2,0.3]' limit 1";
}

struct way_to_write {
    const char* name;
    std::function<void(pq_connection&, const std::string& id)> write;
};

const std::string values_of = "', '[0.1,0.2,0.3]')";

std::vector<way_to_write> ways_to_write() {
    const std::string insert = "insert into routed_own (id, v) values ('";
    return {
        {"a statement",
         [=](auto& client, const auto& id) { client.query(insert + id + values_of); }},
        {"the extended protocol",
         [](auto& client, const auto& id) {
             client.query("insert into routed_own (id, v) values ($1, '[0.1,0.2,0.3]')", {id});
         }},
        {"a transaction",
         [=](auto& client, const auto& id) {
             client.query("begin");
             client.query(insert + id + values_of);
             client.query("select 1");
             client.query("commit");
         }},
        {"several statements in one text",
         [=](auto& client, const auto& id) {
             client.query("select 1; " + insert + id + values_of + "; select 2");
         }},
        {"a function",
         [](auto& client, const auto& id) { client.query("select routed_insert(" + id + ")"); }},
        {"a function in a transaction",
         [](auto& client, const auto& id) {
             client.query("begin; select routed_insert(" + id + "); commit");
         }},
        {"asynchronous commit",
         [=](auto& client, const auto& id) {
             client.query(
                 "begin; set local synchronous_commit = off; " + insert + id + values_of +
                 "; commit"
             );
         }},
        {"COPY",
         [](auto& client, const auto& id) {
             const pq_result started(PQexec(client.get(), "copy routed_own (id, v) from stdin"));
             const auto line = id + "\t[0.1,0.2,0.3]\n";
             PQputCopyData(client.get(), line.data(), static_cast<int>(line.size()));
             PQputCopyEnd(client.get(), nullptr);
             while (PGresult* more = PQgetResult(client.get())) {
                 PQclear(more);
             }
         }},
    };
}

void make_own_writes_table() {
    auto& servers = cluster::shared();
    make_items(servers, "routed_own", 10);
    pq_connection direct(servers.primary().at, login_as(servers));
    direct.query(
        "create or replace function routed_insert(int) returns int language sql as"
        " $$ insert into routed_own (id, v) values ($1, '[0.1,0.2,0.3]') returning id $$"
    );
    servers.catch_up();
}

}  // namespace

TEST_SUITE_BEGIN("integration.routing_session");

TEST_CASE("B117 a prepared write stays a write after a read and the other way round") {
    auto& servers = cluster::shared();
    make_items(servers, "routed_units", 10);
    proxy_process proxy(servers, eventual_reads());
    wait_for_routing(proxy, servers, "routed_units");
    const std::string write = "insert into routed_units (id, v) values ($1::int, '[1,1,1]')";
    const std::string read = "select id from routed_units where id = 1";
    wire_client client(proxy.at(), login_as(servers));
    std::string came;
    const auto servers_for = [&](const script& what, std::size_t ready = 1) {
        return servers_of(proxy, [&] { came = kinds(client.ask(what, ready)); });
    };
    const auto read_again = script().bind("", "r").execute().sync();
    const auto on_a_replica = [&] { return servers_for(read_again) != "n1"; };

    CHECK(servers_for(script().parse("w", write).bind("", "w", {"101"}).execute().sync()) == "n1");
    CHECK(came == "1 2 C Z(I)");
    client.ask(script().parse("r", read).bind("", "r").execute().sync());
    CHECK(wait_until(on_a_replica));  // as soon as it has the session's own write
    CHECK(servers_for(script().bind("", "w", {"102"}).execute().sync()) == "n1");
    CHECK(came == "2 C Z(I)");
    CHECK(wait_until(on_a_replica));

    SUBCASE("a read and a write between two Syncs are the primary's") {
        const auto both = script().bind("", "r").execute().bind("", "w", {"103"}).execute().sync();
        CHECK(servers_for(both) == "n1");
        CHECK(came == "2 D C 2 C Z(I)");
    }
    SUBCASE("the same with statements parsed on the way") {
        script both;
        both.parse("", read).bind("", "").execute();
        both.parse("", write).bind("", "", {"103"}).execute().sync();
        CHECK(servers_for(both) == "n1");
        CHECK(came == "1 2 D C 1 2 C Z(I)");
    }
    SUBCASE("two Sync units sent at once are decided one by one") {
        const auto both =
            script().bind("", "r").execute().sync().bind("", "w", {"103"}).execute().sync();
        const auto names = servers_for(both, 2);
        CHECK((names == "n1 n2" || names == "n1 n3"));
        CHECK(came == "2 D C Z(I) 2 C Z(I)");
    }
    SUBCASE("a Flush behind a read does not take the write to a replica") {
        const auto both =
            script().bind("", "r").execute().flush().bind("", "w", {"103"}).execute().sync();
        CHECK(servers_for(both) == "n1");
        CHECK(came == "2 D C 2 C Z(I)");
    }
    pq_connection direct(servers.primary().at, login_as(servers));
    CHECK(direct.value("select count(*) from routed_units where id > 100") == "3");
}

TEST_CASE("a session sees its own writes at once though every replica is late") {
    auto& servers = cluster::shared();
    make_own_writes_table();
    proxy_process proxy(servers);
    wait_for_routing(proxy, servers, "routed_own");
    disturbance late(servers);
    late.delay("n2", "1s");
    late.delay("n3", "1s");
    pq_connection writer(proxy.at(), login_as(servers));
    pq_connection other(proxy.at(), login_as(servers));
    int id = 1000;
    int others_missed = 0;
    const auto ways = ways_to_write();
    // Both orders: a session that has read from a replica before, and one that has not.
    for (const bool fresh : {true, false}) {
        for (const auto& way : ways) {
            CAPTURE(way.name);
            CAPTURE(fresh);
            for (int i = 0; i < 10; ++i) {
                ++id;
                pq_connection just_come(proxy.at(), login_as(servers));
                auto& client = fresh ? just_come : writer;
                way.write(client, std::to_string(id));
                const int seen_by_other = other.query(search_row(id)).rows();
                CHECK(client.query(search_row(id)).rows() == 1);
                others_missed += seen_by_other == 0 ? 1 : 0;
            }
        }
    }
    // Otherwise nothing was proven: the replicas did not have the rows.
    CHECK(others_missed > id / 20);
}

TEST_CASE("a thousand own writes are all found") {
    auto& servers = cluster::shared();
    make_own_writes_table();
    proxy_process proxy(servers);
    wait_for_routing(proxy, servers, "routed_own");
    disturbance late(servers);
    late.delay("n2", "150ms");
    pq_connection client(proxy.at(), login_as(servers));
    const double before = routed(proxy, "replica");
    int found = 0;
    for (int id = 1001; id <= 2000; ++id) {
        client.query(
            "insert into routed_own (id, v) values (" + std::to_string(id) + ", '[1,1,1]')"
        );
        found += client.query(search_row(id)).rows();
        if (id % 100 == 0) {
            // Its writes arrive, and the replicas serve this session again.
            const double served_so_far = routed(proxy, "replica");
            CHECK(wait_until([&] {
                client.query(search_row(id));
                return routed(proxy, "replica") > served_so_far;
            }));
        }
    }
    CHECK(found == 1000);
    CHECK(routed(proxy, "replica") >= before + 10);
}

TEST_CASE("settings of a rule hold for its statements and for nothing else") {
    auto& servers = cluster::shared();
    make_items(servers, "routed_settings", 100);
    proxy_options options;
    options.pool = "{size: 1}";
    options.nodes = {"n1", "n2"};
    options.lines = {
        "routing: {rules: ["
        "{name: near, match: {vector: true}, consistency: eventual, settings: "
        "{hnsw.ef_search: 77, statement_timeout: 5min}},"
        "{name: reads, match: {kind: read}, consistency: eventual}]}"};
    proxy_process proxy(servers, options);
    wait_for_routing(proxy, servers, "routed_settings");
    pq_connection client(proxy.at(), login_as(servers));
    pq_connection other(proxy.at(), login_as(servers));
    const std::string both =
        "current_setting('hnsw.ef_search') || ' ' || current_setting('statement_timeout')";
    const std::string plain = "select " + both + " from routed_settings limit 1";
    const auto before = served(proxy, "");
    for (int i = 0; i < 20; ++i) {
        CHECK(client.value(search("routed_settings", both)) == "77 5min");
        CHECK(other.value(plain) == "40 0");
        CHECK(client.query(search("routed_settings", both), {}).at(0, 0) == "77 5min");
        CHECK(client.value(plain) == "40 0");
    }
    // All of it on one and the same connection of the replica.
    const auto spread = difference(before, served(proxy, ""));
    CHECK(spread == std::map<std::string, double>{{"n2", 80}});
    CHECK(client.value("show statement_timeout") == "0");

    client.query("set statement_timeout = '7min'");
    CHECK(client.value(search("routed_settings", both)) == "77 5min");
    CHECK(client.value(plain) == "40 7min");
    CHECK(other.value(plain) == "40 0");
}

TEST_CASE("SHOW ROUTE tells the choice, its reason and what speaks against each server") {
    auto& servers = cluster::shared();
    make_items(servers, "routed_shown", 10);
    proxy_options options;
    options.lines = {
        "routing: {rules: [{name: near, match: {vector: true}, consistency: {bounded: 4s},"
        " settings: {hnsw.ef_search: 60}}]}"};
    proxy_process proxy(servers, options);
    wait_for_routing(proxy, servers, "routed_shown");
    console asked(proxy, servers);
    const auto sql = search("routed_shown");
    const double decisions = routed(proxy, "replica");
    CHECK(asked.route(sql, "rule") == "near");
    CHECK(asked.route(sql, "reason") == "vector");
    CHECK(asked.route(sql, "consistency") == "bounded 4000 ms");
    CHECK(asked.route(sql, "settings") == "hnsw.ef_search = 60");
    CHECK(asked.route(sql, "vector search") == "routed_shown.v <-> literal limit 1");
    CHECK(asked.route(sql, "server n1") == "primary");
    CHECK(asked.route("update routed_shown set t = 'x'", "choice") == "n1");
    CHECK(asked.route("update routed_shown set t = 'x'", "reason") == "write");
    CHECK(asked.route("select nextval('a')", "choice") == "n1");
    CHECK(asked.route("select count(*) from routed_shown", "reason") == "strong");
    CHECK(routed(proxy, "replica") == decisions);  // asking counts nothing

    disturbance stopped(servers);
    stopped.pause("n3");
    CHECK(wait_until([&] { return asked.topology().at("n3").excluded == "replay paused"; }));
    CHECK(asked.route(sql, "choice") == "n2");
    CHECK(asked.route(sql, "server n3").find("replay paused") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace weir::integration
