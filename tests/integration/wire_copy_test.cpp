// COPY in both directions and both protocols, and what goes wrong with it.
#include "tests/integration/support/competitor.hpp"
#include "tests/integration/support/dialogue.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <thread>

namespace weir::integration {
namespace {

const std::vector<std::string> empty_table = {
    "create table if not exists wire_copy (a int primary key, b text)",
    "truncate wire_copy"};
const std::string copied = "select count(*) || '/' || coalesce(sum(a), 0) from wire_copy";

proxy_options pool_of(unsigned size) {
    proxy_options options;
    options.primary_only = true;
    options.pool = "{size: " + std::to_string(size) + "}";
    return options;
}

script rows(int from, int count) {
    script made;
    for (int i = from; i < from + count; ++i) {
        made.copy_data(std::to_string(i) + "\tx\n");
    }
    return made;
}

}  // namespace

TEST_SUITE_BEGIN("integration.wire_copy");

TEST_CASE("B39 copy in keeps its server until the end") {
    const auto copy = script().query("copy wire_copy from stdin");
    const auto end = rows(1, 3).copy_done();
    const std::vector<dialogue> all = {
        {.name = "simple",
         .steps = {said_until(copy, 'G'), said(end), said(script().query("select 1"))},
         .before = empty_table,
         .after = copied,
         .expected = "G | C Z(I) | T D C Z(I)"},
        {.name = "in one write",
         .steps = {said(script(copy).raw(end.bytes()).query("select 1"), 2)},
         .before = empty_table,
         .after = copied,
         .expected = "G C Z(I) T D C Z(I)"},
        {.name = "in a transaction",
         .steps =
             {said(script().query("begin")),
              said_until(copy, 'G'),
              said(end),
              said(script().query("commit"))},
         .before = empty_table,
         .after = copied,
         .expected = "C Z(T) | G | C Z(T) | C Z(I)"},
        {.name = "extended",
         .steps =
             {said_until(
                  script().parse("", "copy wire_copy from stdin").bind("", "").execute().sync(),
                  'G'
              ),
              said(script(end).sync()),
              said(script().extended("select 1"))},
         .before = empty_table,
         .after = copied,
         .expected = "1 2 G | C Z(I) | 1 2 T D C Z(I)"},
        {.name = "binary",
         .steps =
             {said_until(script().query("copy wire_copy from stdin (format binary)"), 'G'),
              said(script()
                       .copy_data(std::string("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", 19))
                       .copy_data(std::string("\0\2\0\0\0\4\0\0\0\7\0\0\0\1y", 15))
                       .copy_data("\xff\xff")
                       .copy_done())},
         .before = empty_table,
         .after = copied,
         .expected = "G | C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("B39 copy in that does not end as it should is like direct") {
    const auto copy = script().query("copy wire_copy from stdin");
    const auto end = rows(1, 3).copy_done();
    const std::vector<dialogue> all = {
        {.name = "given up by the client",
         .steps = {said_until(copy, 'G'), said(rows(1, 2).copy_fail("no more"))},
         .before = empty_table,
         .after = copied,
         .expected = "G | E(57014) Z(I)"},
        {.name = "a query instead of data",
         .steps = {said_until(copy, 'G'), said_to_end(script().query("select 1"))},
         .before = empty_table,
         .after = copied,
         .expected = "G | E(08P01) E(08P01)"},
        {.name = "two copies in one query",
         .steps =
             {said_until(
                  script().query("copy wire_copy from stdin; copy wire_copy from stdin"),
                  'G'
              ),
              said_until(end, 'G'),
              said(rows(10, 2).copy_done())},
         .before = empty_table,
         .after = copied,
         .expected = "G | C G | C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("B39 a competitor waits while the copying client thinks") {
    auto& servers = cluster::shared();
    pq_connection direct(servers.primary().at, login_as(servers));
    for (const auto& sql : empty_table) {
        direct.query(sql);
    }
    proxy_process proxy(servers, pool_of(1));
    wire_client copying(proxy.at(), login_as(servers));
    wire_client other(proxy.at(), login_as(servers));
    copying.send(script().query("copy wire_copy from stdin"));
    CHECK(kinds(copying.read_to('G')) == "G");
    other.send(script().query("select 1"));
    CHECK(wait_until([&] { return proxy.metric("pgweir_pool_waiting") == 1; }));
    copying.send(rows(1, 3));
    CHECK(kinds(other.read_quiet(200ms)).empty());
    CHECK(kinds(copying.ask(script().copy_done())) == "C Z(I)");
    CHECK(kinds(other.read_ready()) == "T D C Z(I)");
    CHECK(direct.value(copied) == "3/6");
}

TEST_CASE("B40 a copy that fails while its client sends costs no server") {
    auto& servers = cluster::shared();
    pq_connection direct(servers.primary().at, login_as(servers));
    for (const auto& sql : empty_table) {
        direct.query(sql);
    }
    proxy_process proxy(servers, pool_of(3));
    competitor others(proxy.at(), login_as(servers), 2);
    const int rounds = long_form() ? 20 : 5;
    const int megabytes = long_form() ? 200 : 20;
    script much;
    for (int i = 0; i < 16; ++i) {
        much.copy_data("3\t" + std::string(65'533, 'x') + "\n");
    }
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round);
        wire_client client(proxy.at(), login_as(servers));
        CHECK(kinds(client.ask(script().query("begin"))) == "C Z(T)");
        client.send(script().query("copy wire_copy from stdin").raw(rows(1, 1).bytes()));
        client.send(rows(1, 1));
        for (int i = 0; i < megabytes; ++i) {
            client.send(much);
        }
        client.send(script().copy_done());
        CHECK(kinds(client.read_ready()) == "G E(23505) Z(E)");
        CHECK(kinds(client.ask(script().query("rollback"))) == "C Z(I)");
        CHECK(kinds(client.ask(script().query("select 1"))) == "T D C Z(I)");
    }
    CHECK(direct.value(copied) == "0/0");
    // All three servers can be had at the same time.
    std::vector<wire_client> holders;
    for (int i = 0; i < 3; ++i) {
        holders.emplace_back(proxy.at(), login_as(servers));
        CHECK(kinds(holders.back().ask(script().query("begin"))) == "C Z(T)");
    }
    for (auto& each : holders) {
        CHECK(kinds(each.ask(script().query("commit"))) == "C Z(I)");
    }
}

TEST_CASE("a client that vanishes in copy in leaves nothing behind") {
    auto& servers = cluster::shared();
    pq_connection direct(servers.primary().at, login_as(servers));
    for (const auto& sql : empty_table) {
        direct.query(sql);
    }
    proxy_process proxy(servers, pool_of(1));
    for (const bool extended : {false, true}) {
        for (const bool half_a_message : {false, true}) {
            CAPTURE(extended);
            CAPTURE(half_a_message);
            wire_client client(proxy.at(), login_as(servers));
            const std::string copy = "copy wire_copy from stdin";
            client.send(
                extended ? script().parse("", copy).bind("", "").execute().sync()
                         : script().query(copy)
            );
            static_cast<void>(client.read_to('G'));
            client.send(rows(1, 10));
            if (half_a_message) {
                client.send(script().header('d', 100).raw("77\t"));
            }
            client.reset();
            wire_client next(proxy.at(), login_as(servers));
            CHECK(kinds(next.ask(script().query("select 1"))) == "T D C Z(I)");
            CHECK(direct.value(copied) == "0/0");
        }
    }
}

TEST_CASE("copy out is like direct in both protocols") {
    const std::string copy =
        "copy (select g, repeat('y', 40) from generate_series(1, 30) g) to stdout";
    std::string answer = "H";
    for (int i = 0; i < 30; ++i) {
        answer += " d";
    }
    answer += " c C Z(I)";
    const std::vector<dialogue> all = {
        {.name = "simple",
         .steps = {said(script().query(copy)), said(script().query("select 1"))},
         .expected = answer + " | T D C Z(I)"},
        {.name = "extended",
         .steps = {said(script().parse("", copy).bind("", "").describe_portal("").execute().sync()
         )},
         .expected = "1 2 n " + answer},
        {.name = "failing on the way",
         .steps =
             {said(script().query("copy (select 1/(3-g) from generate_series(1, 5) g) to stdout"))},
         .expected = "H d d E(22012) Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_SUITE_END();

}  // namespace weir::integration
