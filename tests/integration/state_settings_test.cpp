// Settings made while a session lives: they follow their client from server to server, obey its
// transactions, and nobody else ever sees them.
#include "tests/integration/state_tools.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.state_settings");

namespace {

struct tracked {
    std::string name;
    const char* set;    // behind "SET name = "
    const char* text;   // for set_config
    const char* shown;  // what SHOW says then
};

// Those of case B81 first, and others that applications change.
const std::vector<tracked> all_tracked{
    {"default_transaction_read_only", "on", "on", "on"},
    {"statement_timeout", "12345", "12345ms", "12345ms"},
    {"search_path", "tenant_a, public", "tenant_a, public", "tenant_a, public"},
    {"app.tenant", "'it''s \\ 1'", "it's \\ 1", "it's \\ 1"},
    {"TimeZone", "'Asia/Tokyo'", "Asia/Tokyo", "Asia/Tokyo"},
    {"row_security", "off", "off", "off"},
    {"DateStyle", "'SQL, DMY'", "SQL, DMY", "SQL, DMY"},
    {"client_encoding", "'LATIN1'", "LATIN1", "LATIN1"},
    {"work_mem", "'77MB'", "77MB", "77MB"},
    {"application_name", "\"Mixed Case\"", "Mixed Case", "Mixed Case"},
};

std::string quoted(const char* text) {
    std::string made = "'";
    for (const char* c = text; *c != '\0'; ++c) {
        made.append(*c == '\'' ? 2 : 1, *c);
    }
    return made += '\'';
}

// Two clients that share the only server connection, so that each statement changes its user.
struct pair_on_one_server {
    explicit pair_on_one_server(const cluster& servers)
        : proxy(servers, one_server("{size: 1}")),
          first(proxy.at(), login_as(servers)),
          second(proxy.at(), login_as(servers)) {}

    proxy_process proxy;
    pq_connection first;
    pq_connection second;
};

// A custom setting that was ever set on a server stays known there, with an empty value; PostgreSQL
// has no way back from that.
bool is_default(const std::string& seen, const std::string& before) {
    return seen == before || (before == "42704" && seen.empty());
}

std::string
seen_by_new_client(const proxy_process& proxy, const login& as, const std::string& setting) {
    pq_connection client(proxy.at(), as);
    return shown(client, setting);
}

void check_follows(pair_on_one_server& pair, const tracked& what, const std::string& before) {
    CHECK(is_default(shown(pair.second, what.name), before));
    CHECK(shown(pair.first, what.name) == what.shown);
    CHECK(is_default(shown(pair.second, what.name), before));
    CHECK(shown(pair.first, what.name) == what.shown);
}

void check_undone(pair_on_one_server& pair, const tracked& what, const std::string& before) {
    CHECK(is_default(shown(pair.first, what.name), before));
    CHECK(is_default(shown(pair.second, what.name), before));
    CHECK(is_default(shown(pair.first, what.name), before));
}

}  // namespace

TEST_CASE("B81 a setting belongs to its client alone") {
    pair_on_one_server pair(cluster::shared());
    for (const auto& what : all_tracked) {
        CAPTURE(what.name);
        const auto& name = what.name;
        const auto before = shown(pair.second, name);
        for (const auto& verb : {"SET " + name + " = ", "SET SESSION " + name + " TO "}) {
            pair.first.query(verb + what.set);
            check_follows(pair, what, before);
            pair.first.query("RESET " + name);
            check_undone(pair, what, before);
        }
        pair.first.query("SET " + name + " = " + what.set, {});
        check_follows(pair, what, before);
        pair.first.query("SET " + name + " TO DEFAULT");
        check_undone(pair, what, before);
    }
}

TEST_CASE("B81 set_config for the session with a literal and with parameters") {
    pair_on_one_server pair(cluster::shared());
    for (const auto& what : all_tracked) {
        CAPTURE(what.name);
        const auto& name = what.name;
        const auto before = shown(pair.second, name);
        const auto literal = quoted(what.text);
        pair.first.query(std::string("select set_config('")
                             .append(name)
                             .append("', ")
                             .append(literal)
                             .append(", false)"));
        check_follows(pair, what, before);
        pair.first.query("RESET ALL");
        check_undone(pair, what, before);
        pair.first.query("select set_config('" + name + "', $1, false)", {what.text});
        check_follows(pair, what, before);
        pair.first.query("DISCARD ALL");
        check_undone(pair, what, before);
    }
}

TEST_CASE("B81 set_config with every argument as a parameter does not leak") {
    pair_on_one_server pair(cluster::shared());
    pair.first.query("select set_config($1, $2, $3::bool)", {"statement_timeout", "66s", "false"});
    CHECK(shown(pair.first, "statement_timeout") == "66s");
    // Where such a call pins its session, the other client's turn comes when it has gone.
    pair.first = pq_connection(pair.proxy.at(), login_as(cluster::shared()));
    CHECK(shown(pair.second, "statement_timeout") == "0");
}

TEST_CASE("B81 set_config in forms that are hard to read does not leak") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    prepare(
        servers,
        {"create table if not exists state_text (x text)", "grant all on state_text to public"}
    );
    const std::vector<std::string> texts{
        "select set_config('work' || '_mem', '98MB', false)",
        "select pg_catalog.SET_CONFIG('WORK_MEM', '98MB', not true)",
        "with x as (select set_config('work_mem', '98MB', false)) select * from x",
        "select set_config(name, '98MB', false) from pg_settings where name = 'work_mem'",
        "insert into state_text values (set_config('work_mem', '98MB', false))",
        "explain analyze select set_config('work_mem', '98MB', false)",
        "do $$ begin perform set_config('work_mem', '98MB', false); end $$",
        "do $$ begin set work_mem = '98MB'; end $$",
        "SET \"Work_Mem\" = '98MB'",
    };
    for (const auto& text : texts) {
        CAPTURE(text);
        {
            pq_connection one(proxy.at(), login_as(servers));
            one.query(text);
            CHECK(shown(one, "work_mem") == "98MB");
        }
        pq_connection next(proxy.at(), login_as(servers));
        CHECK(shown(next, "work_mem") == "4MB");
    }
}

TEST_CASE("B81 a setting made inside a function that was just created does not leak") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    {
        pq_connection one(proxy.at(), login_as(servers));
        one.query(
            "create or replace function state_sets() returns int language plpgsql as "
            "$$ begin set work_mem = '98MB'; return 1; end $$"
        );
        one.query("create sequence if not exists state_sequence");
        one.query("select nextval('state_sequence'), state_sets()");
        CHECK(shown(one, "work_mem") == "98MB");
    }
    pq_connection next(proxy.at(), login_as(servers));
    CHECK(shown(next, "work_mem") == "4MB");
    next.query("drop function state_sets()");
}

TEST_CASE("B81 SET LOCAL ends with its transaction") {
    pair_on_one_server pair(cluster::shared());
    const std::vector<std::string> local{
        "SET LOCAL statement_timeout = '5s'",
        "select set_config('statement_timeout', '5s', true)",
    };
    for (const auto& text : local) {
        for (const std::string end : {"COMMIT", "ROLLBACK"}) {
            CAPTURE(text);
            CAPTURE(end);
            pair.first.query("BEGIN");
            pair.first.query(text);
            CHECK(shown(pair.first, "statement_timeout") == "5s");
            pair.first.query(end);
            CHECK(shown(pair.first, "statement_timeout") == "0");
            CHECK(shown(pair.second, "statement_timeout") == "0");
        }
        pair.first.query(text);  // outside a transaction it has no effect
        CHECK(shown(pair.first, "statement_timeout") == "0");
        CHECK(shown(pair.second, "statement_timeout") == "0");
    }
    pair.first.query("BEGIN; SET LOCAL statement_timeout = '5s'; SELECT 1; COMMIT");
    CHECK(shown(pair.second, "statement_timeout") == "0");
    CHECK(shown(pair.first, "statement_timeout") == "0");
}

TEST_CASE("B81 transactions and savepoints take settings back") {
    pair_on_one_server pair(cluster::shared());
    auto& first = pair.first;
    const auto check = [&](const char* now) {
        CHECK(shown(pair.second, "statement_timeout") == "0");
        CHECK(shown(first, "statement_timeout") == now);
    };
    const auto run = [&](const std::vector<std::string>& texts) {
        for (const auto& text : texts) {
            static_cast<void>(first.try_query(text));
        }
    };
    run({"SET statement_timeout = '1s'"});
    run(
        {"BEGIN",
         "SET statement_timeout = '2s'",
         "SAVEPOINT a",
         "SET statement_timeout = '3s'",
         "ROLLBACK TO a"}
    );
    CHECK(shown(first, "statement_timeout") == "2s");
    run({"COMMIT"});
    check("2s");
    run({"BEGIN", "SET statement_timeout = '4s'", "ROLLBACK"});
    check("2s");
    run({"BEGIN", "SET statement_timeout = '4s'", "select 1/0", "COMMIT"});
    check("2s");
    run({"BEGIN", "SAVEPOINT a", "SET statement_timeout = '4s'", "RELEASE a", "COMMIT"});
    check("4s");
    run(
        {"BEGIN",
         "SAVEPOINT a",
         "SET statement_timeout = '5s'",
         "SAVEPOINT b",
         "SET statement_timeout = '6s'",
         "RELEASE b",
         "ROLLBACK TO a",
         "COMMIT"}
    );
    check("4s");
    run(
        {"BEGIN",
         "SET statement_timeout = '5s'",
         "SAVEPOINT a",
         "RESET statement_timeout",
         "select 1/0",
         "ROLLBACK TO a",
         "COMMIT"}
    );
    check("5s");
    run({"BEGIN", "RESET ALL", "ROLLBACK"});
    check("5s");
    run({"BEGIN", "RESET ALL", "COMMIT"});
    check("0");
}

TEST_CASE("B81 settings in a Query of several statements") {
    pair_on_one_server pair(cluster::shared());
    pair.first.query("SET statement_timeout = '4s'; SET lock_timeout = '3s'");
    CHECK(shown(pair.second, "statement_timeout") == "0");
    CHECK(shown(pair.second, "lock_timeout") == "0");
    CHECK(shown(pair.first, "statement_timeout") == "4s");
    CHECK(shown(pair.first, "lock_timeout") == "3s");
    // All of it is one transaction, so nothing of it came true.
    CHECK(code_of(pair.first, "SET statement_timeout = '9s'; SELECT 1/0") == "22012");
    CHECK(shown(pair.second, "statement_timeout") == "0");
    CHECK(shown(pair.first, "statement_timeout") == "4s");
}

TEST_CASE("B81 a SET that fails changes nothing") {
    pair_on_one_server pair(cluster::shared());
    pair.first.query("SET statement_timeout = '4s'");
    CHECK(code_of(pair.first, "SET statement_timeout = 'soon'") == "22023");
    CHECK(code_of(pair.first, "SET no_such_setting = 1") == "42704");
    CHECK(shown(pair.second, "statement_timeout") == "0");
    CHECK(shown(pair.first, "statement_timeout") == "4s");
}

TEST_CASE("B81 nothing is left by a client that leaves or dies") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    const auto as = login_as(servers);
    for (const auto& what : all_tracked) {
        CAPTURE(what.name);
        for (const std::string first : {"SELECT 1", "BEGIN"}) {
            for (const bool dies : {false, true}) {
                const auto standard = seen_by_new_client(proxy, as, what.name);
                come_and_go(proxy, as, {first, "SET " + what.name + " = " + what.set}, dies);
                const auto after = seen_by_new_client(proxy, as, what.name);
                CHECK(is_default(after, standard));
            }
        }
    }
}

TEST_CASE("B81 a client that dies behind a pipelined SET leaves nothing") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    for (int round = 0; round < 20; ++round) {
        {
            pq_connection one(proxy.at(), login_as(servers));
            start(one, "SET work_mem = '98MB'");
            vanish(one);
        }
        pq_connection next(proxy.at(), login_as(servers));
        CHECK(shown(next, "work_mem") == "4MB");
    }
}

TEST_CASE("other ways of setting something") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));

    struct way {
        const char* text;
        const char* name;
        const char* shown;
    };

    const std::vector<way> ways{
        {"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
         "default_transaction_read_only",
         "on"},
        {"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE",
         "default_transaction_isolation",
         "serializable"},
        {"SET TIME ZONE 'Asia/Tokyo'", "TimeZone", "Asia/Tokyo"},
        {"SET TIME ZONE INTERVAL '+08:30' HOUR TO MINUTE", "TimeZone", "<+08:30>-08:30"},
        {"SET TIME ZONE 3", "TimeZone", "<+03>-03"},
        {"SET NAMES 'latin1'", "client_encoding", "LATIN1"},
        {"SET SCHEMA 'other'", "search_path", "other"},
        {"SET XML OPTION DOCUMENT", "xmloption", "document"},
    };
    for (const auto& each : ways) {
        CAPTURE(each.text);
        pq_connection one(proxy.at(), login_as(servers));
        pq_connection other(proxy.at(), login_as(servers));
        const auto before = shown(other, each.name);
        one.query(each.text);
        CHECK(shown(other, each.name) == before);
        CHECK(shown(one, each.name) == each.shown);
        CHECK(shown(other, each.name) == before);
    }
}

TEST_CASE("Settings follow their client where standard_conforming_strings is off") {
    auto& servers = cluster::shared();
    pair_on_one_server pair(servers);
    pair.first.query("SET standard_conforming_strings = off");
    for (const auto& what : all_tracked) {
        if (what.name != "app.tenant") {  // has a backslash
            CAPTURE(what.name);
            const auto before = shown(pair.second, what.name);
            pair.first.query("SET " + what.name + " = " + what.set);
            check_follows(pair, what, before);
        }
    }
    pair.first.query("RESET ALL");
    CHECK(shown(pair.first, "statement_timeout") == "0");
    CHECK(shown(pair.first, "standard_conforming_strings") == "on");
}

TEST_CASE("A setting whose text is not understood keeps its client's server") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    pq_connection first(proxy.at(), login_as(servers));
    pq_connection second(proxy.at(), login_as(servers));
    first.query("SET standard_conforming_strings = off");
    first.query("SET app.word = 'a\\'b'");
    CHECK(pinned_clients(proxy, "setting_unknown") == 1);
    CHECK(shown(second, "standard_conforming_strings") == "on");
    CHECK(shown(first, "app.word") == "a'b");
}

TEST_SUITE_END();

}  // namespace weir::integration
