// What PostgreSQL itself answers to odd sequences of messages, and that the proxy answers the same.
#include "tests/integration/support/dialogue.hpp"

#include <doctest/doctest.h>

namespace weir::integration {
namespace {

// A table of one integer column for every test of this file.
const std::vector<std::string> empty_table = {
    "create table if not exists wire_facts (a int primary key)",
    "truncate wire_facts"};

script one() {
    return script().query("select 1");
}

}  // namespace

TEST_SUITE_BEGIN("integration.wire_facts");

TEST_CASE("F1 a query behind a failed message is swallowed up to the sync") {
    const std::vector<dialogue> all = {
        {.name = "parse fails",
         .steps =
             {said(script().parse("", "selec 1").query("select 2").sync().extended("select 3"), 2),
              said(one())},
         .expected = "E(42601) Z(I) 1 2 T D C Z(I) | T D C Z(I)"},
        {.name = "bind fails",
         .steps =
             {said(
                  script()
                      .parse("", "select 1/0")
                      .bind("", "")
                      .execute()
                      .query("select 2")
                      .flush()
                      .extended("select 3")
                      .extended("select 4"),
                  2
              ),
              said(one())},
         .expected = "1 E(22012) Z(I) 1 2 T D C Z(I) | T D C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("F2 a statement name is taken until it is closed") {
    const std::vector<dialogue> all = {
        {.name = "twice in one unit",
         .steps =
             {said(script().parse("a", "select 1").parse("a", "select 2").sync()),
              said(script().bind("", "a").execute().sync()),
              said(script().close_statement("a").sync()),
              said(script().parse("a", "select 3").bind("", "a").execute().sync())},
         .expected = "1 E(42P05) Z(I) | 2 D C Z(I) | 3 Z(I) | 1 2 D C Z(I)"},
        {.name = "twice in two units, then free after a failed one",
         .steps =
             {said(script().parse("a", "select 1").sync().parse("a", "select 2").sync(), 2),
              said(script().parse("b", "selec 1").sync().parse("b", "select 2").sync(), 2),
              said(script().bind("", "a").execute().bind("", "b").execute().sync())},
         .expected = "1 Z(I) E(42P05) Z(I) | E(42601) Z(I) 1 Z(I) | 2 D C 2 D C Z(I)"},
        {.name = "the same text under two names",
         .steps =
             {said(
                  script().parse("a", "select 1").parse("b", "select 1").close_statement("a").sync()
              ),
              said(script().bind("", "b").execute().sync().bind("", "a").execute().sync(), 2)},
         .expected = "1 1 3 Z(I) | 2 D C Z(I) E(26000) Z(I)"},
        {.name = "used behind its failed parse",
         .steps = {said(
             script().parse("a", "selec 1").sync().bind("", "a").execute().sync().query("select 1"),
             3
         )},
         .expected = "E(42601) Z(I) E(26000) Z(I) T D C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("F3 closing what does not exist is fine") {
    const std::vector<dialogue> all = {
        {.name = "statement and portal",
         .steps =
             {said(script().close_statement("none").sync().close_portal("none").sync(), 2),
              said(script().close_statement("").close_portal("").sync())},
         .expected = "3 Z(I) 3 Z(I) | 3 3 Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("F4 a parameter description always comes") {
    const std::vector<dialogue> all = {
        {.name = "no parameters, no result, both",
         .steps =
             {said(script().parse("a", "select 1").describe_statement("a").sync()),
              said(script().parse("b", "set lock_timeout = 0").describe_statement("b").sync()),
              said(script()
                       .parse("c", "select $1::int, $2::text")
                       .describe_statement("c")
                       .describe_statement("a")
                       .sync()),
              said(script().describe_statement("a").describe_statement("none").sync())},
         .expected = "1 t T Z(I) | 1 t n Z(I) | 1 t T t T Z(I) | t T E(26000) Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("F5 a simple query destroys the unnamed statement") {
    const std::vector<dialogue> all = {
        {.name = "in three units",
         .steps =
             {said(script().parse("", "select 1").sync()),
              said(script().bind("", "").execute().sync()),
              said(one()),
              said(script().bind("", "").execute().sync())},
         .expected = "1 Z(I) | 2 D C Z(I) | T D C Z(I) | E(26000) Z(I)"},
        {.name = "in one write",
         .steps = {said(
             script().parse("", "select 1").sync().query("select 1").bind("", "").execute().sync(),
             3
         )},
         .expected = "1 Z(I) T D C Z(I) E(26000) Z(I)"},
        {.name = "an empty query destroys it as well, a named one stays",
         .steps =
             {said(script().parse("", "select 1").parse("n", "select 2").sync()),
              said(script().query("")),
              said(script().bind("", "n").execute().bind("", "").sync())},
         .expected = "1 1 Z(I) | I Z(I) | 2 D C E(26000) Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("F7 copy messages outside copy mode are nothing") {
    const std::vector<dialogue> all = {
        {.name = "data and done and fail before a query",
         .steps =
             {said(script().copy_data("1\n").copy_done().copy_fail("x").query("select 1")),
              said(script().copy_data("1\n").extended("select 2")),
              said(script().parse("", "select 3").copy_done().bind("", "").execute().sync())},
         .expected = "T D C Z(I) | 1 2 T D C Z(I) | 1 2 D C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("F8 sync and flush inside copy in are nothing") {
    const std::vector<dialogue> all = {
        {.name = "by the extended protocol",
         .steps =
             {said(script()
                       .parse("", "copy wire_facts from stdin")
                       .bind("", "")
                       .execute()
                       .sync()
                       .copy_data("1\n")
                       .sync()
                       .flush()
                       .copy_data("2\n")
                       .copy_done()
                       .sync()),
              said(one())},
         .before = empty_table,
         .after = "select count(*) from wire_facts",
         .expected = "1 2 G C Z(I) | T D C Z(I)"},
        {.name = "waiting for the answer to copy",
         .steps =
             {said_until(
                  script().parse("", "copy wire_facts from stdin").bind("", "").execute().flush(),
                  'G'
              ),
              said(script().copy_data("1\n").sync().copy_data("2\n").copy_done().sync()),
              said(one())},
         .before = empty_table,
         .after = "select count(*) from wire_facts",
         .expected = "1 2 G | C Z(I) | T D C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("F9 what comes after a failed copy is dropped") {
    script late;
    late.query("copy wire_facts from stdin").copy_data("1\n").copy_data("1\n");
    for (int i = 0; i < 1000; ++i) {
        late.copy_data("2\n");
    }
    late.copy_done();
    const std::vector<dialogue> all = {
        {.name = "a thousand rows late",
         .steps = {said(late), said(one())},
         .before = empty_table,
         .after = "select count(*) from wire_facts",
         .expected = "G E(23505) Z(I) | T D C Z(I)",
         .cut = false},
        {.name = "short",
         .steps =
             {said(script()
                       .query("copy wire_facts from stdin")
                       .copy_data("x\n")
                       .copy_data("1\n")
                       .copy_done()),
              said(one())},
         .before = empty_table,
         .after = "select count(*) from wire_facts",
         .expected = "G E(22P02) Z(I) | T D C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("F10 answers come before the end") {
    const std::vector<dialogue> all = {
        {.name = "insert and terminate",
         .steps = {said_to_end(script().query("insert into wire_facts values (1)").terminate())},
         .before = empty_table,
         .after = "select count(*) from wire_facts",
         .expected = "C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("F11 one sync is one transaction") {
    const std::vector<dialogue> all = {
        {.name = "two inserts and an error",
         .steps =
             {said(script()
                       .parse("", "insert into wire_facts values (1)")
                       .bind("", "")
                       .execute()
                       .parse("", "insert into wire_facts values (2)")
                       .bind("", "")
                       .execute()
                       .parse("", "select 1/0")
                       .bind("", "")
                       .execute()
                       .sync()),
              said(script().query("select count(*) from wire_facts"))},
         .before = empty_table,
         .after = "select count(*) from wire_facts",
         .expected = "1 2 C 1 2 C 1 E(22012) Z(I) | T D C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("F20 a prepared statement whose result has changed fails until it is made anew") {
    auto& servers = cluster::shared();
    proxy_options options;
    options.primary_only = true;
    options.pool =
        "{size: 1}";  // with two the second execution may find a server that never had it
    proxy_process proxy(servers, options);
    int round = 0;
    for (const auto& to : {servers.primary().at, proxy.at()}) {
        for (const auto how : {cutting::whole, cutting::bytes}) {
            // A text of its own each time, or the server would know the one before.
            const auto text = "select * from wire_changing -- " + std::to_string(++round);
            const auto execute = script().bind("", "s").execute().sync();
            step changed = said(execute);
            changed.aside = "alter table wire_changing add column b int";
            const dialogue all = {
                .name = "close and parse again",
                .steps =
                    {said(script().parse("s", text).bind("", "s").execute().sync()),
                     changed,
                     said(script().close_statement("s").parse("s", text).sync()),
                     said(execute)},
                .before =
                    {"drop table if exists wire_changing", "create table wire_changing (a int)"},
            };
            CHECK(
                play(all, servers, to, how).kinds ==
                "1 2 C Z(I) | E(0A000) Z(I) | 3 1 Z(I) | 2 C Z(I)"
            );
        }
    }
}

TEST_CASE("F21 a portal lives over flushes until the sync") {
    const std::vector<dialogue> all = {
        {.name = "five rows in three executes",
         .steps =
             {said_until(
                  script()
                      .parse("", "select generate_series(1,5)")
                      .bind("c", "")
                      .describe_portal("c")
                      .flush(),
                  'T'
              ),
              said_until(script().execute("c", 2).flush(), 's'),
              said_until(script().execute("c", 2).flush(), 's'),
              said(script().execute("c", 2).sync()),
              said(script().execute("c").sync())},
         .expected = "1 2 T | D D s | D D s | D C Z(I) | E(34000) Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("F22 an impossible length closes the connection without a message") {
    const std::vector<dialogue> all = {
        {.name = "sync of two billion bytes",
         .steps = {said_to_end(script().header('S', 2'000'000'000))},
         .expected = ""},
        {.name = "query of 2^31 - 1 bytes",
         .steps = {said_to_end(script().header('Q', 0x7FFF'FFFF))},
         .expected = ""},
        {.name = "query of three bytes",
         .steps = {said_to_end(script().header('Q', 3))},
         .expected = ""},
        {.name = "after a good query",
         .steps = {said(one()), said_to_end(script().header('D', 20'000))},
         .expected = "T D C Z(I) | "},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_SUITE_END();

}  // namespace weir::integration
