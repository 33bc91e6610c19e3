// Settings that a client gives when it connects: on every server, for this client, and never as
// the reset default of a server.
#include "tests/integration/state_tools.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.state_startup");

namespace {

struct form {
    std::string name;
    std::function<std::string(std::string name, const std::string& value)> option;
};

// A backslash takes away a space's meaning.
std::string escaped(const std::string& value) {
    std::string text;
    for (const char c : value) {
        text += c == ' ' ? "\\ " : std::string(1, c);
    }
    return text;
}

const std::vector<form> forms{
    {"-c name=value", [](auto name, auto value) { return "-c " + name + "=" + escaped(value); }},
    {"-cname=value", [](auto name, auto value) { return "-c" + name + "=" + escaped(value); }},
    {"--name=value",
     [](auto name, auto value) {
         std::replace(name.begin(), name.end(), '_', '-');
         return "--" + name + "=" + escaped(value);
     }},
};

struct known_setting {
    std::string name;
    const char* value;
    const char* without;  // what a client without it sees
};

const std::vector<known_setting> known{
    {"search_path", "tenant_a, public", "\"$user\", public"},
    {"statement_timeout", "7s", "0"},
    {"extra_float_digits", "2", "1"},
    {"app.tenant", "tenant one", "42704"},
};

login with_option(const cluster& servers, const std::string& option) {
    auto as = login_as(servers);
    std::string quoted;
    for (const char c : option) {
        quoted += c == '\\' ? "\\\\" : std::string(1, c);
    }
    as.options = "options='" + quoted + "'";
    return as;
}

std::string shown_by(wire_client& client, const std::string& name) {
    const auto came = client.ask(script().query("SHOW " + name));
    const auto row =
        std::find_if(came.begin(), came.end(), [](const auto& m) { return m.type == 'D'; });
    return row == came.end() ? came.front().code() : row->column(0).value_or("NULL");
}

}  // namespace

TEST_CASE("B57 a setting in options holds on every server and for its client only") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 3}"));
    for (const auto& how : forms) {
        for (const auto& setting : known) {
            CAPTURE(how.name);
            CAPTURE(setting.name);
            const auto option = how.option(setting.name, setting.value);
            pq_connection direct(servers.primary().at, with_option(servers, option));
            REQUIRE(shown(direct, setting.name) == setting.value);
            pq_connection with(proxy.at(), with_option(servers, option));
            pq_connection without(proxy.at(), login_as(servers));
            pool_holder all(proxy, login_as(servers), 3);
            all.each([&] {
                CHECK(shown(with, setting.name) == setting.value);
                const auto other = shown(without, setting.name);
                const bool unset = other.empty() && std::string(setting.without) == "42704";
                CHECK((unset || other == setting.without));
                CHECK(shown(with, setting.name) == setting.value);
            });
        }
    }
}

TEST_CASE("B57 a setting in the startup packet holds on every server") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 3}"));
    for (const auto& setting : known) {
        CAPTURE(setting.name);
        wire_client with(proxy.at());
        const auto came = with.log_in(login_as(servers), {{setting.name, setting.value}});
        REQUIRE(kinds(came).ends_with("Z(I)"));
        pool_holder all(proxy, login_as(servers), 3);
        all.each([&] { CHECK(shown_by(with, setting.name) == setting.value); });
    }
}

TEST_CASE("B57 two clients with different values do not disturb each other") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 3}"));
    pq_connection one(proxy.at(), with_option(servers, "-c statement_timeout=11s"));
    pq_connection two(proxy.at(), with_option(servers, "-c statement_timeout=22s"));
    pool_holder all(proxy, login_as(servers), 3);
    for (int round = 0; round < 3; ++round) {
        all.each([&] {
            CHECK(shown(one, "statement_timeout") == "11s");
            CHECK(shown(two, "statement_timeout") == "22s");
        });
    }
}

TEST_CASE("B57 a setting that does not exist is refused with its name") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    const auto direct = [&](const std::string& option) {
        return pq_connection::try_connect(servers.primary().at, with_option(servers, option));
    };
    for (const auto& how : forms) {
        CAPTURE(how.name);
        const auto option = how.option("unknown_guc", "1");
        const auto refused = pq_connection::try_connect(proxy.at(), with_option(servers, option));
        CHECK_FALSE(refused.ok());
        CHECK(refused.error().find("unknown_guc") != std::string::npos);
        CHECK_FALSE(direct(option).ok());
    }
    wire_client packet(proxy.at());
    const auto came = packet.log_in(login_as(servers), {{"unknown_guc", "1"}});
    CHECK(came.back().code() == "42704");
    CHECK(came.back().field('M').find("unknown_guc") != std::string::npos);
    CHECK(came.back().field('S') == "FATAL");
}

TEST_CASE("B57 a value that cannot be is refused and the pool goes on") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    const auto refused =
        pq_connection::try_connect(proxy.at(), with_option(servers, "-c statement_timeout=soon"));
    CHECK_FALSE(refused.ok());
    CHECK(refused.error().find("statement_timeout") != std::string::npos);
    pq_connection next(proxy.at(), login_as(servers));
    CHECK(shown(next, "statement_timeout") == "0");
}

TEST_CASE("B57 the client's own values are what RESET and DISCARD ALL go back to") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection client(proxy.at(), with_option(servers, "-c statement_timeout=7s"));
    pq_connection other(proxy.at(), login_as(servers));
    for (const std::string back :
         {"RESET statement_timeout",
          "SET statement_timeout TO DEFAULT",
          "RESET ALL",
          "DISCARD ALL"}) {
        CAPTURE(back);
        client.query("SET statement_timeout = '3s'");
        CHECK(shown(other, "statement_timeout") == "0");
        client.query(back);
        CHECK(shown(client, "statement_timeout") == "7s");
        CHECK(shown(other, "statement_timeout") == "0");
        CHECK(shown(client, "statement_timeout") == "7s");
    }
}

TEST_CASE("B58 a client's options are not the reset default of its server") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    std::string pid;
    {
        pq_connection first(proxy.at(), with_option(servers, "-c statement_timeout=50ms"));
        CHECK(shown(first, "statement_timeout") == "50ms");
        pid = first.value("select pg_backend_pid()");
    }
    pq_connection second(proxy.at(), login_as(servers));
    CHECK(second.value("select pg_backend_pid()") == pid);
    CHECK(shown(second, "statement_timeout") == "0");
    for (const std::string reset : {"RESET ALL", "DISCARD ALL"}) {
        second.query(reset);
        CHECK(shown(second, "statement_timeout") == "0");
    }
    CHECK(
        second.value("select reset_val from pg_settings where name = 'statement_timeout'") == "0"
    );
}

TEST_CASE("a client's reported parameters are its own") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    auto as = with_option(servers, "-c datestyle=German -c TimeZone=Asia/Tokyo");
    as.options += " application_name=first client_encoding=LATIN1";
    pq_connection first(proxy.at(), as);
    pq_connection second(proxy.at(), login_as(servers));
    const auto told = [](pq_connection& client, const char* name) {
        const char* const value = PQparameterStatus(client.get(), name);
        return std::string(value == nullptr ? "" : value);
    };

    struct reported {
        const char* name;
        std::string value;
    };

    const std::vector<reported> own{
        {"DateStyle", "German, DMY"},
        {"TimeZone", "Asia/Tokyo"},
        {"application_name", "first"},
        {"client_encoding", "LATIN1"}};
    for (int round = 0; round < 2; ++round) {
        for (const auto& each : own) {
            const auto& name = each.name;
            const auto& value = each.value;
            CHECK(shown(first, name) == value);
            CHECK(told(first, name) == value);
            CHECK(shown(second, name) != value);
            CHECK(told(second, name) == shown(second, name));
        }
    }
    first.query("SET TimeZone = 'UTC'");
    CHECK(told(first, "TimeZone") == "UTC");
    first.query("RESET TimeZone");
    CHECK(shown(first, "TimeZone") == "Asia/Tokyo");  // told with this answer, not with RESET's
    CHECK(told(first, "TimeZone") == "Asia/Tokyo");
}

TEST_SUITE_END();

}  // namespace weir::integration
