#include "proxy/console/command.hpp"
#include "proxy/console/commands.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace weir::proxy::console;

namespace {

resolved resolve_text(const char* text) {
    const auto found = cut(text);
    REQUIRE(found.commands.size() == 1);
    return resolve(found.commands.front());
}

// "SHOW ROUTE 2", words and count of arguments, or "42601 message".
std::string outcome(const char* text) {
    const auto found = resolve_text(text);
    if (found.error) {
        return std::string(found.error->code.text()) + " " + found.error->message;
    }
    return std::string(found.value.what->words) + " " +
           std::to_string(found.value.arguments.size());
}

struct example {
    const char* text;
    const char* outcome;
};

}  // namespace

TEST_SUITE_BEGIN("proxy.console_command");

TEST_CASE("commands are found whatever their case") {
    const example examples[] = {
        {"show clients", "SHOW CLIENTS 0"},
        {"SHOW SERVERS", "SHOW SERVERS 0"},
        {"Show Pools", "SHOW POOLS 0"},
        {"show topology", "SHOW TOPOLOGY 0"},
        {"show config", "SHOW CONFIG 0"},
        {"show version", "SHOW VERSION 0"},
        {"show help", "SHOW HELP 0"},
        {"reload", "RELOAD 0"},
        {"show route 'select 1'", "SHOW ROUTE 1"},
        {"show route $$select 1$$ for app", "SHOW ROUTE 3"},
        {"show route 'select 1' FOR \"My db\" someone", "SHOW ROUTE 4"},
    };
    for (const auto& e : examples) {
        CAPTURE(e.text);
        CHECK(outcome(e.text) == e.outcome);
    }
}

TEST_CASE("what is not known is a syntax error that names the way out") {
    const example examples[] = {
        {"shw pools", "42601 unknown console command \"shw\""},
        {"show nonsense", "42601 unknown console command \"show nonsense\""},
        {"show", "42601 unknown console command \"show\""},
        {"select 1", "42601 unknown console command \"select\""},
        {"show pools now", "42601 syntax error at or near \"now\""},
        {"reload 'x'", "42601 syntax error at or near \"x\""},
        {"set", "42601 syntax error at end of input"},
        {"'show' pools", "42601 unknown console command \"show\""},
        {"show route", "42601 SHOW ROUTE needs the statement in quotes: SHOW ROUTE 'SELECT …'"},
        {"show route select 1",
         "42601 SHOW ROUTE needs the statement in quotes: SHOW ROUTE 'SELECT …'"},
        {"show route 'a' for",
         "42601 SHOW ROUTE '<sql>' may be followed by FOR <database> [<user>] only"},
        {"show route 'a' at b",
         "42601 SHOW ROUTE '<sql>' may be followed by FOR <database> [<user>] only"},
        {"show route 'a' for 'b'",
         "42601 SHOW ROUTE '<sql>' may be followed by FOR <database> [<user>] only"},
        {"show route 'a' for b c d",
         "42601 SHOW ROUTE '<sql>' may be followed by FOR <database> [<user>] only"},
    };
    for (const auto& e : examples) {
        CAPTURE(e.text);
        CHECK(outcome(e.text) == e.outcome);
        CHECK(resolve_text(e.text).error->hint == "SHOW HELP lists the commands.");
    }
}

TEST_CASE("commands of PgBouncer that are not built are told apart from unknown ones") {
    const std::string rest = " is not available in this version of the pgweir console";
    for (const char* text :
         {"PAUSE",
          "RESUME",
          "KILL",
          "RECONNECT",
          "SHUTDOWN",
          "SHOW STATS",
          "SHOW LISTS",
          "SHOW DATABASES",
          "SHOW SHADOW"}) {
        CHECK(outcome(text) == "0A000 " + (text + rest));
    }
    CHECK(outcome("pause app") == "0A000 PAUSE" + rest);
    CHECK(outcome("set max_client_conn = 5") == "0A000 the console cannot set \"max_client_conn\"");
}

TEST_CASE("what drivers send on their own account is accepted") {
    const example examples[] = {
        {"SET extra_float_digits = 3", "SET 3"},
        {"SET application_name = 'x'", "SET 3"},
        {"set session characteristics as transaction read only", "SET 6"},
        {"SET TIME ZONE 'UTC'", "SET 3"},
        {"BEGIN", "BEGIN 0"},
        {"BEGIN READ ONLY", "BEGIN 2"},
        {"commit", "COMMIT 0"},
        {"ROLLBACK", "ROLLBACK 0"},
        {"DISCARD ALL", "DISCARD ALL 0"},
        {"show transaction isolation level", "SHOW 3"},
        {"show standard_conforming_strings", "SHOW 1"},
    };
    for (const auto& e : examples) {
        CAPTURE(e.text);
        CHECK(outcome(e.text) == e.outcome);
    }
    CHECK(resolve_text("show DATESTYLE").value.columns() == fields{{.name = "DateStyle"}});
    const auto level = resolve_text("show transaction isolation level").value.columns();
    CHECK(level == fields{{.name = "transaction_isolation"}});
}

TEST_CASE("MIGRATE takes a verb, a migration and its options") {
    const auto columns = [](const char* text) {
        return resolve_text(text).value.columns().front().name;
    };
    CHECK(columns("migrate start docs dry run force") == "check");
    CHECK(columns("MIGRATE STATUS") == "migration");
    CHECK(columns("MIGRATE DEAD LETTERS \"My Docs\"") == "namespace");
    CHECK(columns("MIGRATE DEAD LETTERS docs RETRY") == "result");
    for (const char* wrong :
         {"MIGRATE",
          "MIGRATE AWAY docs",
          "MIGRATE PAUSE",
          "MIGRATE DEAD docs",
          "MIGRATE PAUSE docs FORCE",
          "MIGRATE START docs DRY"}) {
        CAPTURE(wrong);
        CHECK(outcome(wrong).starts_with("42601"));
    }
}

TEST_CASE("only what changes something needs an administrator") {
    for (const auto& each : all_commands()) {
        CAPTURE(std::string(each.words));
        CHECK(each.needs_admin == (each.words == "RELOAD" || each.words == "MIGRATE"));
        CHECK((each.run != nullptr));
        CHECK((each.help.empty() || each.columns != nullptr));
    }
}

TEST_CASE("the parameters of the welcome are what libpq looks for") {
    const auto told = session_parameters("someone");
    CHECK(told.front().first == "server_version");
    CHECK(told.front().second.starts_with("15.0 (pgweir "));
    const auto has = [&](const char* name, const char* value) {
        for (const auto& [known, text] : told) {
            if (known == name) {
                return text == value;
            }
        }
        return false;
    };
    CHECK(has("client_encoding", "UTF8"));
    CHECK(has("standard_conforming_strings", "on"));
    CHECK(has("integer_datetimes", "on"));
    CHECK(has("in_hot_standby", "off"));
    CHECK(has("session_authorization", "someone"));
}

TEST_SUITE_END();
