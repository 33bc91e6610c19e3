// Everything else a server says or a client may send: notices, empty queries, function calls,
// changed parameters, and what is no message at all.
#include "tests/integration/support/competitor.hpp"
#include "tests/integration/support/dialogue.hpp"
#include "tests/integration/support/libpq.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>
#include <libpq/libpq-fs.h>

#include <memory>
#include <random>
#include <regex>

namespace weir::integration {
namespace {

// Everything up to the row that holds the mark, and its ReadyForQuery.
messages read_to_mark(wire_client& client, const std::string& mark) {
    messages all;
    bool marked = false;
    while (!marked || all.back().type != 'Z') {
        all.push_back(client.read());
        marked = marked || (all.back().type == 'D' && all.back().column(0) == mark);
    }
    return all;
}

// The proxy has names of its own for prepared statements on servers.
std::string without_names(const std::string& text) {
    static const std::regex names("prepared statement \"[^\"]*\"");
    return std::regex_replace(text, names, "prepared statement *");
}

// A script of messages nobody would send, always the same for a seed. Two differences that are
// meant (docs/compatibility.md) are left out: texts that do not parse have a name of their own, and
// where transactions may fail no text is one a server holds already.
script random_script(unsigned seed) {
    std::mt19937 random(seed);
    const bool transactions = seed % 2 == 0;
    const std::vector<std::string> names = {"", "a", "b"};
    std::vector<std::string> texts = {
        "select 1",
        "select $1::text",
        "select 1/0",
        "select generate_series(1,3)",
        "",
        "set lock_timeout = 77",
        "show lock_timeout",
        "do $$ begin raise notice 'x'; end $$"};
    if (transactions) {
        texts.insert(texts.end(), {"begin", "commit", "rollback", "savepoint s"});
    }
    const auto name = [&] { return names[random() % names.size()]; };
    unsigned long left = 3 + random() % 12;
    const auto text = [&] {
        const auto& chosen = texts[random() % texts.size()];
        return transactions ? chosen + " -- " + std::to_string(seed) + "." + std::to_string(left)
                            : chosen;
    };
    script made;
    for (; left > 0; --left) {
        switch (random() % 14) {
        case 0: made.query(random() % 4 == 0 ? "select 5; select 6" : text()); break;
        case 1:
        case 2: made.parse(name(), text()); break;
        case 3: made.parse("never", "selec"); break;
        case 4:
        case 5: made.bind(name(), name()); break;
        case 6: made.bind("", name(), {"v"}); break;
        case 7: made.describe_statement(name()); break;
        case 8: made.describe_portal(name()); break;
        case 9: made.execute(name(), static_cast<int>(random() % 3)); break;
        case 10: made.close_statement(name()); break;
        case 11:
            random() % 2 == 0 ? made.close_portal(name()) : made.copy_data("x").copy_done();
            break;
        case 12: made.flush(); break;
        default: made.sync();
        }
    }
    return made.sync().query("rollback").query("select 'mark'");
}

}  // namespace

TEST_SUITE_BEGIN("integration.wire_messages");

TEST_CASE("notices and empty queries and changed parameters are like direct") {
    const std::string noisy =
        "do $$ begin raise notice 'one' using hint = 'h'; raise warning 'two'; end $$";
    const std::vector<dialogue> all = {
        {.name = "notices",
         .steps =
             {said(script().query(noisy)),
              said(script().parse("", noisy).bind("", "").execute().sync()),
              said(script().query("commit")),
              said(script().query("begin; begin; rollback"))},
         .expected = "N N C Z(I) | 1 2 N N C Z(I) | N C Z(I) | C N C C Z(I)"},
        {.name = "empty",
         .steps =
             {said(script().query("")),
              said(script().query(" ; -- nothing\n")),
              said(script().parse("", "").bind("", "").describe_portal("").execute().sync()),
              said(script().query("select 1;;select 2"))},
         .expected = "I Z(I) | I Z(I) | 1 2 n I Z(I) | T D C T D C Z(I)"},
        {.name = "several statements, one fails",
         .steps =
             {said(script().query("select 1; select 2/0; select 3")),
              said(script().query("begin; select 1/0")),
              said(script().query("select 1")),
              said(script().query("rollback"))},
         .expected = "T D C E(22012) Z(I) | C E(22012) Z(E) | E(25P02) Z(E) | C Z(I)"},
        {.name = "parameters",
         .steps =
             {said(script().query("set datestyle = 'German'")),
              said(script().query("select date '2020-02-01'")),
              said(script().query("begin; set datestyle = 'SQL, DMY'; rollback")),
              said(script().query("reset datestyle"))},
         .expected = "C S Z(I) | T D C Z(I) | C C C Z(I) | C S Z(I)"},
        {.name = "errors with all their fields",
         .steps = {said(script().query(
             "do $$ begin raise exception 'm' using errcode = 'W0001', detail = 'd', hint = 'h', "
             "column = 'c', constraint = 'k', datatype = 't', table = 'r', schema = 's'; end $$"
         ))},
         .expected = "E(W0001) Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("what is no message ends the connection as it does directly") {
    const std::vector<dialogue> all = {
        {.name = "unknown type",
         .steps = {said_to_end(script().message('y', "12345678"))},
         .expected = "E(08P01)",
         .same_texts = false},
        {.name = "unknown type behind a query",
         .steps = {said(script().query("select 1")), said_to_end(script().message('Z', "I"))},
         .expected = "T D C Z(I) | E(08P01)",
         .same_texts = false},
        {.name = "a password out of place",
         .steps = {said_to_end(script().header('F', 3))},
         .expected = ""},
        {.name = "a length of zero in a unit",
         .steps =
             {said_until(script().parse("", "select 1").flush(), '1'),
              said_to_end(script().header('B', 0))},
         .expected = "1 | "},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("what is no message costs no server") {
    auto& servers = cluster::shared();
    proxy_options options;
    options.primary_only = true;
    options.pool = "{size: 1}";
    proxy_process proxy(servers, options);
    const std::vector<script> ends = {
        script().header('S', 2'000'000'000),
        script().header('Q', 0x7FFF'FFFF),
        script().message('y', "x"),
        script().query("begin").header('D', 20'000),
        script().parse("", "select 1").header('B', 0x4000'0000),
        script().query("copy (select 1) to stdout").header('C', 2)};
    for (const auto& end : ends) {
        wire_client client(proxy.at(), login_as(servers));
        client.send(end);
        static_cast<void>(client.read_to_end());
        wire_client next(proxy.at(), login_as(servers));
        CHECK(kinds(next.ask(script().query("select 1"))) == "T D C Z(I)");
    }
}

TEST_CASE("large objects work by function calls") {
    auto& servers = cluster::shared();
    proxy_options options;
    options.primary_only = true;
    options.pool = "{size: 1}";
    proxy_process proxy(servers, options);
    std::unique_ptr<competitor> others;
    const std::string content(100'000, 'o');
    for (const bool contended : {false, true}) {
        CAPTURE(contended);
        if (contended) {
            others = std::make_unique<competitor>(proxy.at(), login_as(servers));
        }
        pq_connection client(proxy.at(), login_as(servers));
        client.query("begin");
        const auto made = lo_creat(client.get(), INV_READ | INV_WRITE);
        REQUIRE(made != 0);
        const int writing = lo_open(client.get(), made, INV_WRITE);
        REQUIRE(writing >= 0);
        CHECK(lo_write(client.get(), writing, content.data(), content.size()) == 100'000);
        CHECK(lo_close(client.get(), writing) == 0);
        client.query("commit");
        client.query("begin");
        const int reading = lo_open(client.get(), made, INV_READ);
        std::string back(200'000, ' ');
        CHECK(lo_read(client.get(), reading, back.data(), back.size()) == 100'000);
        CHECK(back.substr(0, content.size()) == content);
        client.query("commit");
        CHECK(lo_unlink(client.get(), made) == 1);   // outside a transaction
        CHECK(lo_unlink(client.get(), made) == -1);  // an error
        CHECK(client.value("select 7") == "7");
    }
}

TEST_CASE("random messages are like direct") {
    auto& servers = cluster::shared();
    proxy_options options;
    options.primary_only = true;
    options.pool = "{size: 2}";
    proxy_process proxy(servers, options);
    const unsigned count = long_form() ? 5000 : 300;
    for (unsigned seed = 0; seed < count; ++seed) {
        CAPTURE(seed);
        const auto bytes = random_script(seed).bytes();
        wire_client direct(servers.primary().at, login_as(servers));
        direct.send(bytes);
        const auto expected = read_to_mark(direct, "mark");
        for (const std::size_t size : {bytes.size(), std::size_t{37}}) {
            CAPTURE(size);
            wire_client client(proxy.at(), login_as(servers));
            client.send_pieces(bytes, size);
            messages through;
            try {
                through = read_to_mark(client, "mark");
            } catch (const std::exception& error) {
                FAIL(std::string(error.what()));
            }
            CHECK(kinds(through) == kinds(expected));
            CHECK(without_names(details(through)) == without_names(details(expected)));
        }
    }
    CHECK(wait_until([&] { return proxy.idle(); }));
}

TEST_SUITE_END();

}  // namespace weir::integration
