// The extended protocol: units that end with Sync and nothing else, statements that follow their
// client, errors that are answered once.
#include "tests/integration/support/competitor.hpp"
#include "tests/integration/support/dialogue.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

namespace weir::integration {
namespace {

const std::vector<std::string> empty_table = {
    "create table if not exists wire_extended (a int)",
    "truncate wire_extended"};

proxy_options pool_of(unsigned size, const std::string& more = "") {
    proxy_options options;
    options.primary_only = true;
    options.pool = "{size: " + std::to_string(size) + more + "}";
    return options;
}

script insert(const std::string& value) {
    return script()
        .parse("", "insert into wire_extended values (" + value + ")")
        .bind("", "")
        .execute();
}

}  // namespace

TEST_SUITE_BEGIN("integration.wire_extended");

TEST_CASE("B04 a full pool is one error at once and one ready for query after the sync") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1, ", queue_timeout: 200ms"));
    wire_client holder(proxy.at(), login_as(servers));
    CHECK(kinds(holder.ask(script().query("begin"))) == "C Z(T)");
    wire_client client(proxy.at(), login_as(servers));
    const auto unit = script().parse("", "select 1").bind("", "").describe_portal("").execute();

    SUBCASE("in one write") {
        CHECK(kinds(client.ask(script(unit).sync())) == "E(53300) Z(I)");
        CHECK(kinds(client.ask(script().query("select 1"))) == "E(53300) Z(I)");
    }
    SUBCASE("the error does not wait for the sync") {
        client.send(script(unit).flush());
        CHECK(client.read().kind() == "E(53300)");
        client.send(unit);
        client.send(script().query("select 2"));  // skipped as well
        CHECK(kinds(client.read_quiet(300ms)).empty());
        CHECK(kinds(client.ask(script().sync())) == "Z(I)");
    }
    SUBCASE("the next unit of the same write is judged for itself") {
        client.send(script(unit).sync().query("select 1"));
        CHECK(kinds(client.read_ready(2)) == "E(53300) Z(I) E(53300) Z(I)");
    }
    CHECK(kinds(holder.ask(script().query("commit"))) == "C Z(I)");
    CHECK(kinds(client.ask(script().query("select 1"))) == "T D C Z(I)");
    CHECK(kinds(client.ask(script().extended("select 1"))) == "1 2 T D C Z(I)");
    CHECK(kinds(client.read_quiet(50ms)).empty());
}

TEST_CASE("B11 a unit that crosses the error before it keeps its server") {
    const auto second = script().parse("n", "select $1::text").describe_statement("n").flush();
    const auto rest = said(script().bind("", "n", {"x"}).execute().sync());
    script unknown;
    unknown.bind("", "none").execute().sync().raw(second.bytes());
    script failing;
    failing.bind("", "d", {"0"}).execute().sync().raw(second.bytes());
    step crossing = said_until(failing, 'T');
    const std::vector<dialogue> all = {
        {.name = "a statement nobody knows",
         .steps = {said_until(unknown, 'T'), rest},
         .expected = "E(26000) Z(I) 1 t T | 2 D C Z(I)"},
        {.name = "an error of the server",
         .steps = {said(script().parse("d", "select 1/$1::int").sync()), crossing, rest},
         .expected = "1 Z(I) | E(22012) Z(I) 1 t T | 2 D C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("B12 a flush does not end a unit") {
    const std::vector<dialogue> all = {
        {.name = "a portal fetched in parts",
         .steps =
             {said_until(
                  script()
                      .parse("", "select generate_series(1,250)")
                      .bind("C_1", "")
                      .describe_portal("C_1")
                      .flush(),
                  'T'
              ),
              said_until(script().execute("C_1", 100).flush(), 's'),
              said_until(script().execute("C_1", 100).flush(), 's'),
              said_until(script().execute("C_1", 100).flush(), 'C'),
              said(script().close_portal("C_1").sync())},
         .expected = {}},
        {.name = "step by step",
         .steps =
             {said_until(script().parse("s", "select $1::int").flush(), '1'),
              said_until(script().describe_statement("s").flush(), 'T'),
              said_until(script().bind("p", "s", {"7"}).flush(), '2'),
              said_until(script().execute("p").flush(), 'C'),
              said_until(script().close_portal("p").flush(), '3'),
              said_until(script().close_statement("s").flush(), '3'),
              said(script().sync())},
         .expected = "1 | t T | 2 | D C | 3 | 3 | Z(I)"},
        {.name = "description first",
         .steps =
             {said_until(script().parse("", "select $1::int").describe_statement("").flush(), 'T'),
              said(script().bind("", "", {"7"}).execute().sync())},
         .expected = "1 t T | 2 D C Z(I)"},
    };
    auto checked = all;
    checked[0].expected = "1 2 T |";
    for (const char* end : {" s |", " s |", " C | 3 Z(I)"}) {
        for (int i = 0; i < (end[1] == 'C' ? 50 : 100); ++i) {
            checked[0].expected += " D";
        }
        checked[0].expected += end;
    }
    check_like_direct(cluster::shared(), checked);
}

TEST_CASE("B15 a query in the window behind an error is not owed an answer") {
    const std::vector<dialogue> all = {
        {.name = "as it was reported",
         .steps =
             {said(
                  script()
                      .parse("", "selec 1")
                      .query("select 2")
                      .sync()
                      .parse("", "select 3")
                      .bind("", "")
                      .execute()
                      .sync(),
                  2
              ),
              said(script().query("select 4"))},
         .expected = "E(42601) Z(I) 1 2 D C Z(I) | T D C Z(I)"},
        {.name = "with everything else in the window",
         .steps =
             {said(
                  script()
                      .bind("", "none")
                      .parse("w", "select 1")
                      .query("select 2")
                      .close_statement("w")
                      .describe_statement("none")
                      .flush()
                      .copy_data("x")
                      .copy_done()
                      .query("begin")
                      .sync()
                      .query("select 5"),
                  2
              ),
              said(script().bind("", "w").sync())},
         .expected = "E(26000) Z(I) T D C Z(I) | E(26000) Z(I)"},
        {.name = "the error comes before the query is sent",
         .steps =
             {said_until(script().bind("", "none").flush(), 'E'),
              said(script().query("select 2").sync()),
              said(script().query("select 3"))},
         .expected = "E(26000) | Z(I) | T D C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("B16 answers that are owed arrive behind a terminate") {
    const std::vector<dialogue> all = {
        {.name = "simple",
         .steps = {said_to_end(script().query("insert into wire_extended values (1)").terminate())},
         .before = empty_table,
         .after = "select count(*) from wire_extended",
         .expected = "C Z(I)"},
        {.name = "extended",
         .steps = {said_to_end(insert("1").sync().terminate())},
         .before = empty_table,
         .after = "select count(*) from wire_extended",
         .expected = "1 2 C Z(I)"},
        {.name = "failing",
         .steps = {said_to_end(script().query("select 1/0").terminate())},
         .expected = "E(22012) Z(I)"},
        {.name = "several, slow",
         .steps = {said_to_end(script()
                                   .query("select pg_sleep(0.1)")
                                   .extended("select repeat('x', 3)")
                                   .query("select 3")
                                   .terminate())},
         .expected = "T D C Z(I) 1 2 T D C Z(I) T D C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("B16 a large answer arrives behind a terminate") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1));
    wire_client client(proxy.at(), login_as(servers));
    client.send(script().query("select repeat('x', 20000000)").terminate());
    const auto came = client.read_to_end();
    CHECK(kinds(came) == "T D C Z(I)");
    CHECK(came.at(1).column(0)->size() == 20'000'000);
}

TEST_CASE("B17 the unnamed statement follows its client") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(2));
    competitor others(proxy.at(), login_as(servers), 2);
    wire_client a(proxy.at(), login_as(servers));
    wire_client b(proxy.at(), login_as(servers));
    const int rounds = long_form() ? 1000 : 200;
    for (int i = 0; i < rounds; ++i) {
        CAPTURE(i);
        const auto token = "x" + std::to_string(i);
        REQUIRE(
            kinds(a.ask(script().parse("", "select $1::text").describe_statement("").sync())) ==
            "1 t T Z(I)"
        );
        REQUIRE(kinds(b.ask(script().parse("", "select 42").sync())) == "1 Z(I)");
        const auto of_a = a.ask(script().bind("", "", {token}).execute().sync());
        REQUIRE(kinds(of_a) == "2 D C Z(I)");
        REQUIRE(of_a[1].column(0) == token);
        const auto of_b = b.ask(script().bind("", "").execute().sync());
        REQUIRE(kinds(of_b) == "2 D C Z(I)");
        REQUIRE(of_b[1].column(0) == "42");
    }
    CHECK(kinds(a.ask(script().query("select 1"))) == "T D C Z(I)");
    CHECK(kinds(a.ask(script().bind("", "", {"y"}).sync())) == "E(26000) Z(I)");
}

TEST_CASE("B22 a name on a server never comes to mean another text") {
    auto& servers = cluster::shared();
    auto options = pool_of(1, ", max_prepared_statements: 1");
    proxy_process proxy(servers, options);
    std::vector<wire_client> clients;
    clients.reserve(4);
    for (int i = 0; i < 4; ++i) {
        clients.emplace_back(proxy.at(), login_as(servers));
    }
    for (int round = 0; round < 100; ++round) {
        CAPTURE(round);
        if (round % 25 == 24) {
            proxy.reload(options);
        }
        for (std::size_t i = 0; i < clients.size(); ++i) {
            const auto text = "select " + std::to_string(i) + "+" + std::to_string(round / 3 * 10);
            const auto expected = std::to_string(i + static_cast<unsigned>(round / 3 * 10));
            const auto name = "s" + std::to_string(round / 3);
            script unit;
            if (round % 3 == 0) {
                unit.parse(name, text);
            }
            const auto came = clients[i].ask(unit.bind("", name).execute().sync());
            const auto row = came.size() < 3 ? 0 : came.size() - 3;
            REQUIRE(kinds(came) == (round % 3 == 0 ? "1 2 D C Z(I)" : "2 D C Z(I)"));
            REQUIRE(came[row].column(0) == expected);
        }
    }
}

TEST_CASE("B22 a new client's statement is not taken for one that is gone") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1));
    for (int round = 0; round < 50; ++round) {
        wire_client client(proxy.at(), login_as(servers));
        const auto number = std::to_string(round);
        const auto came =
            client.ask(script().parse("same", "select " + number).bind("", "same").execute().sync()
            );
        REQUIRE(kinds(came) == "1 2 D C Z(I)");
        REQUIRE(came[2].column(0) == number);
    }
}

TEST_CASE("B28 nothing is committed inside a unit") {
    const std::vector<dialogue> all = {
        {.name = "in one write",
         .steps = {said(script()
                            .raw(insert("1").bytes())
                            .raw(insert("2").bytes())
                            .raw(insert("1/0").bytes())
                            .sync())},
         .before = empty_table,
         .after = "select count(*) from wire_extended",
         .expected = "1 2 C 1 2 C 1 E(22012) Z(I)"},
        {.name = "with flushes",
         .steps =
             {said_until(insert("1").flush(), 'C'),
              said_until(insert("2").flush(), 'C'),
              said(insert("1/0").sync())},
         .before = empty_table,
         .after = "select count(*) from wire_extended",
         .expected = "1 2 C | 1 2 C | 1 E(22012) Z(I)"},
        {.name = "with statements the server does not have yet",
         .steps =
             {said(script().parse("a", "insert into wire_extended values (3)").sync()),
              said(script()
                       .bind("", "a")
                       .execute()
                       .parse("b", "select 1/(1-$1::int)")
                       .bind("", "b", {"1"})
                       .execute()
                       .sync())},
         .before = empty_table,
         .after = "select count(*) from wire_extended",
         .expected = "1 Z(I) | 2 C 1 E(22012) Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("three hundred statements work where a server keeps two hundred") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1));
    wire_client client(proxy.at(), login_as(servers));
    competitor others(proxy.at(), login_as(servers));
    const int count = 300;
    for (int i = 0; i < count; ++i) {
        const auto number = std::to_string(i);
        REQUIRE(
            kinds(client.ask(script().parse("s" + number, "select " + number).sync())) == "1 Z(I)"
        );
    }
    for (int i = 0; i < 2 * count; ++i) {
        const auto number = std::to_string(i % count);
        const auto came = client.ask(script().bind("", "s" + number).execute().sync());
        REQUIRE(kinds(came) == "2 D C Z(I)");
        REQUIRE(came[1].column(0) == number);
    }
    const auto held = client.value("select count(*) from pg_prepared_statements");
    CHECK(std::stoi(held) <= 200);
}

TEST_SUITE_END();

}  // namespace weir::integration
