// "cached plan must not change result type": prepared statements are shared by their text, but who
// gets this error is what it would be if every client had its session alone.
#include "tests/integration/support/dialogue.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

namespace weir::integration {
namespace {

proxy_options pool_of(unsigned size) {
    proxy_options options;
    options.primary_only = true;
    options.pool = "{size: " + std::to_string(size) + "}";
    return options;
}

// The session that changes tables, with the server itself.
pq_connection direct(const cluster& servers) {
    return {servers.primary().at, login_as(servers)};
}

// A text that no server has seen, of a table with one column and one row.
std::string new_text(const cluster& servers) {
    static int number = 0;
    auto by = direct(servers);
    by.query("drop table if exists wire_stale");
    by.query("create table wire_stale (a int)");
    by.query("insert into wire_stale values (1)");
    return "select * from wire_stale -- " + std::to_string(++number);
}

void change(const cluster& servers) {
    direct(servers).query("alter table wire_stale add column b int default 2");
}

void change_back(const cluster& servers) {
    direct(servers).query("alter table wire_stale drop column b");
}

script run(std::string_view name) {
    return script().bind("", name).execute().sync();
}

std::string row_of(const messages& answer) {
    std::string values;
    for (const auto& each : answer) {
        if (each.type == 'D') {
            for (std::size_t i = 0; i < static_cast<unsigned char>(each.body.at(1)); ++i) {
                values += (values.empty() ? "" : " ") + each.column(i).value_or("null");
            }
        }
    }
    return values;
}

// What one client does with a statement it prepares; kinds and rows of all answers.
using conversation = std::function<std::string(wire_client&, const std::string& text)>;

std::string say(wire_client& client, const std::vector<script>& steps) {
    std::string heard;
    for (const auto& each : steps) {
        const auto answer = client.ask(each);
        const auto row = row_of(answer);
        heard += (heard.empty() ? "" : " | ") + kinds(answer) + (row.empty() ? "" : " = " + row);
    }
    return heard;
}

struct newcomer {
    const char* name;
    conversation says;
    const char* expected;
};

// Ways in which a client that comes after the change prepares and runs the text.
const std::vector<newcomer> newcomers{
    {"parse, then bind",
     [](wire_client& by, const std::string& text) {
         return say(by, {script().parse("s", text).sync(), run("s"), run("s")});
     },
     "1 Z(I) | 2 D C Z(I) = 1 2 | 2 D C Z(I) = 1 2"},
    {"all in one unit",
     [](wire_client& by, const std::string& text) {
         return say(
             by,
             {script().parse("s", text).bind("", "s").describe_portal("").execute().sync(),
              run("s")}
         );
     },
     "1 2 T D C Z(I) = 1 2 | 2 D C Z(I) = 1 2"},
    {"parse and describe",
     [](wire_client& by, const std::string& text) {
         return say(by, {script().parse("s", text).describe_statement("s").sync(), run("s")});
     },
     "1 t T Z(I) | 2 D C Z(I) = 1 2"},
    {"describe in a unit of its own",
     [](wire_client& by, const std::string& text) {
         return say(
             by,
             {script().parse("s", text).sync(), script().describe_statement("s").sync(), run("s")}
         );
     },
     "1 Z(I) | t T Z(I) | 2 D C Z(I) = 1 2"},
    {"with more behind it in the unit",
     [](wire_client& by, const std::string& text) {
         return say(
             by,
             {script()
                  .parse("s", text)
                  .bind("p", "s")
                  .execute("p")
                  .close_statement("s")
                  .parse("s", "select 7")
                  .bind("", "s")
                  .execute()
                  .sync(),
              run("s")}
         );
     },
     "1 2 D C 3 1 2 D C Z(I) = 1 2 7 | 2 D C Z(I) = 7"},
    {"behind another statement of the unit",
     [](wire_client& by, const std::string& text) {
         return say(
             by,
             {script()
                  .parse("", "select 7")
                  .bind("", "")
                  .execute()
                  .parse("s", text)
                  .bind("", "s")
                  .execute()
                  .sync()}
         );
     },
     "1 2 D C 1 2 D C Z(I) = 7 1 2"},
    {"in a transaction",
     [](wire_client& by, const std::string& text) {
         return say(
             by,
             {script().query("begin"),
              script().parse("s", text).sync(),
              run("s"),
              script().query("commit")}
         );
     },
     "C Z(T) | 1 Z(T) | 2 D C Z(T) = 1 2 | C Z(I)"},
    {"with a flush",
     [](wire_client& by, const std::string& text) {
         by.send(script().parse("s", text).bind("", "s").describe_portal("").flush());
         auto heard = kinds(by.read_to('T'));
         return heard + " | " + say(by, {script().execute().sync()});
     },
     "1 2 T | D C Z(I) = 1 2"},
    {"several units in one write",
     [](wire_client& by, const std::string& text) {
         script all;
         all.parse("s", text).sync();
         all.raw(run("s").bytes()).raw(run("s").bytes()).query("select 7");
         by.send(all);
         const auto answer = by.read_ready(4);
         return kinds(answer) + " = " + row_of(answer);
     },
     "1 Z(I) 2 D C Z(I) 2 D C Z(I) T D C Z(I) = 1 2 1 2 7"},
    {"in a session that keeps its server",
     [](wire_client& by, const std::string& text) {
         return say(
             by,
             {script().query("create temp table wire_stale_temp (a int)"),
              script().parse("s", text).sync(),
              run("s")}
         );
     },
     "C Z(I) | 1 Z(I) | 2 D C Z(I) = 1 2"},
    {"unnamed",
     [](wire_client& by, const std::string& text) {
         return say(
             by,
             {script().parse("", text).describe_statement("").sync(),
              run(""),
              script().extended(text)}
         );
     },
     "1 t T Z(I) | 2 D C Z(I) = 1 2 | 1 2 T D C Z(I) = 1 2"},
};

}  // namespace

TEST_SUITE_BEGIN("integration.wire_stale");

TEST_CASE("B24 a client that comes after ALTER TABLE never sees the error of those before") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1));
    for (const auto& each : newcomers) {
        CAPTURE(each.name);
        const auto text = new_text(servers);
        wire_client early(proxy.at(), login_as(servers));
        CHECK(
            say(early, {script().parse("old", text).sync(), run("old")}) ==
            "1 Z(I) | 2 D C Z(I) = 1"
        );
        change(servers);
        {
            wire_client alone(servers.primary().at, login_as(servers));
            CHECK(each.says(alone, text) == each.expected);
        }
        wire_client late(proxy.at(), login_as(servers));
        CHECK(each.says(late, text) == each.expected);
    }
}

TEST_CASE("B24 who prepared before ALTER TABLE gets the error and newcomers do not mind") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1));
    const auto text = new_text(servers);
    wire_client early(proxy.at(), login_as(servers));
    CHECK(
        say(early, {script().parse("s", text).describe_statement("s").sync(), run("s")}) ==
        "1 t T Z(I) | 2 D C Z(I) = 1"
    );
    change(servers);
    SUBCASE("the old client first") {
        CHECK(say(early, {run("s")}) == "E(0A000) Z(I)");
    }
    SUBCASE("a new client first") {
        wire_client late(proxy.at(), login_as(servers));
        CHECK(
            say(late, {script().parse("s", text).sync(), run("s")}) == "1 Z(I) | 2 D C Z(I) = 1 2"
        );
    }
    // It knows the columns of before, so rows of another kind would be lies.
    CHECK(say(early, {run("s"), run("s")}) == "E(0A000) Z(I) | E(0A000) Z(I)");
    CHECK(say(early, {script().describe_statement("s").sync()}) == "E(0A000) Z(I)");
    CHECK(
        say(early, {script().query("begin"), run("s"), script().query("rollback")}) ==
        "C Z(T) | E(0A000) Z(E) | C Z(I)"
    );
    CHECK(
        say(early, {script().close_statement("s").parse("s", text).sync(), run("s")}) ==
        "3 1 Z(I) | 2 D C Z(I) = 1 2"
    );
}

TEST_CASE("B24 a table that is changed back is what it was") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1));
    const auto text = new_text(servers);
    wire_client early(proxy.at(), login_as(servers));
    CHECK(say(early, {script().parse("s", text).describe_statement("s").sync()}) == "1 t T Z(I)");
    change(servers);
    wire_client late(proxy.at(), login_as(servers));
    CHECK(
        say(late, {script().parse("s", text).describe_statement("s").sync(), run("s")}) ==
        "1 t T Z(I) | 2 D C Z(I) = 1 2"
    );
    CHECK(say(early, {run("s")}) == "E(0A000) Z(I)");
    change_back(servers);
    CHECK(say(early, {run("s")}) == "2 D C Z(I) = 1");
    CHECK(say(late, {run("s")}) == "E(0A000) Z(I)");
}

// With the server directly an unnamed statement is as stale as a named one.
TEST_CASE("an unnamed statement that was described before ALTER TABLE fails like directly") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(1));
    for (const auto& to : {servers.primary().at, proxy.at()}) {
        for (const bool between : {false, true}) {
            CAPTURE(between);
            const auto text = new_text(servers);
            wire_client client(to, login_as(servers));
            CHECK(
                say(client, {script().parse("", text).describe_statement("").sync()}) ==
                "1 t T Z(I)"
            );
            change(servers);
            if (between) {  // somebody else's unnamed statement takes its place on the server
                wire_client other(to, login_as(servers));
                CHECK(say(other, {script().extended("select 7")}) == "1 2 T D C Z(I) = 7");
            }
            CHECK(say(client, {run(""), run("")}) == "E(0A000) Z(I) | E(0A000) Z(I)");
            CHECK(say(client, {script().extended(text)}) == "1 2 T D C Z(I) = 1 2");
        }
    }
}

TEST_CASE("a session spread over servers has the errors of one") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, pool_of(2));
    const auto text = new_text(servers);
    wire_client holder(proxy.at(), login_as(servers));
    const auto on_the_other_server = [&](const std::function<void()>& act) {
        CHECK(kinds(holder.ask(script().query("begin"))) == "C Z(T)");
        act();
        CHECK(kinds(holder.ask(script().query("commit"))) == "C Z(I)");
    };
    wire_client early(proxy.at(), login_as(servers));
    CHECK(
        say(early, {script().parse("s", text).bind("", "s").describe_portal("").execute().sync()}
        ) == "1 2 T D C Z(I) = 1"
    );
    SUBCASE("an insert that fails has not happened") {
        direct(servers).query("drop table if exists wire_stale_log");
        direct(servers).query("create table wire_stale_log (a int)");
        const std::string insert =
            "insert into wire_stale_log select a from wire_stale returning *";
        CHECK(
            say(early, {script().parse("i", insert).describe_statement("i").sync(), run("i")}) ==
            "1 t T Z(I) | 2 D C Z(I) = 1"
        );
        direct(servers).query("alter table wire_stale_log add column b int");
        // The connection used last is lent first, so this one takes it.
        on_the_other_server([&] { CHECK(say(early, {run("i")}) == "E(0A000) Z(I)"); });
        CHECK(direct(servers).value("select count(*) from wire_stale_log") == "1");
    }
    SUBCASE("a server that sees the text for the first time knows no columns of before") {
        change(servers);
        on_the_other_server([&] { CHECK(say(early, {run("s")}) == "E(0A000) Z(I)"); });
    }
    SUBCASE("nothing is wrong while nothing has changed") {
        on_the_other_server([&] { CHECK(say(early, {run("s")}) == "2 D C Z(I) = 1"); });
        CHECK(say(early, {run("s")}) == "2 D C Z(I) = 1");
    }
    SUBCASE("a newcomer who knows the new columns meets a stale copy") {
        change(servers);
        wire_client late(proxy.at(), login_as(servers));
        on_the_other_server([&] {
            CHECK(
                say(late, {script().parse("s", text).describe_statement("s").sync()}) ==
                "1 t T Z(I)"
            );
        });
        for (int i = 0; i < 2; ++i) {
            on_the_other_server([&] { CHECK(say(late, {run("s")}) == "2 D C Z(I) = 1 2"); });
            CHECK(say(late, {run("s")}) == "2 D C Z(I) = 1 2");
        }
    }
}

TEST_SUITE_END();

}  // namespace weir::integration
