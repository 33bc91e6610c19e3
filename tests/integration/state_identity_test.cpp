// Whose rights a statement runs with: never those another client has taken on.
#include "tests/integration/state_tools.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.state_identity");

namespace {

void make_role(const cluster& servers) {
    prepare(
        servers,
        {"do $$ begin if not exists (select from pg_roles where rolname = 'state_role') then "
         "create role state_role; grant state_role to app; end if; end $$"}
    );
}

constexpr const char* lock_free = "select pg_try_advisory_lock(1) and pg_advisory_unlock(1)";

}  // namespace

TEST_CASE("B80 the next client is itself and finds the lock free") {
    auto& servers = cluster::shared();
    make_role(servers);
    proxy_process proxy(servers, one_server("{size: 1}"));
    const std::vector<std::vector<std::string>> before{
        {"SET ROLE state_role"},
        {"SELECT pg_advisory_lock(1)", "SET ROLE state_role"},
        {"BEGIN", "SET ROLE state_role"},
        {"BEGIN", "SELECT pg_advisory_lock(1)", "SET ROLE state_role", "SELECT 1/0"},
        {"select set_config('role', 'state_role', false)"},
    };
    for (const auto& texts : before) {
        for (const bool dies : {false, true}) {
            CAPTURE(texts.back());
            CAPTURE(dies);
            come_and_go(proxy, login_as(servers), texts, dies);
            pq_connection next(proxy.at(), login_as(servers));
            const auto who = identity(next);
            CHECK(who == "app app");
            const auto free = next.value(lock_free);
            CHECK(free == "t");
        }
    }
}

TEST_CASE("B80 a session authorization ends with its client") {
    auto& servers = cluster::shared();
    make_role(servers);
    proxy_process proxy(servers, one_server("{size: 1}"));
    const auto as = login_as(servers, "postgres");
    {
        pq_connection one(proxy.at(), as);
        one.query("SET SESSION AUTHORIZATION app");
        one.query("SET ROLE state_role");
        CHECK(identity(one) == "state_role app");
    }
    pq_connection next(proxy.at(), as);
    CHECK(identity(next) == "postgres postgres");
    CHECK(shown(next, "is_superuser") == "on");
}

TEST_CASE("B80 a role follows its client and survives RESET ALL") {
    auto& servers = cluster::shared();
    make_role(servers);
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection one(proxy.at(), login_as(servers));
    pq_connection other(proxy.at(), login_as(servers));
    const auto check = [&](const char* who) {
        CHECK(identity(other) == "app app");
        CHECK(identity(one) == who);
        CHECK(identity(other) == "app app");
    };
    one.query("SET ROLE state_role");
    check("state_role app");
    one.query("RESET ALL");
    check("state_role app");
    one.query("SET statement_timeout = '5s'");
    check("state_role app");
    one.query("RESET ROLE");
    check("app app");
    CHECK(shown(one, "statement_timeout") == "5s");
    one.query("SET ROLE state_role");
    one.query("RESET SESSION AUTHORIZATION");
    check("app app");
    one.query("SET ROLE state_role");
    one.query("DISCARD ALL");
    check("app app");
    one.query("BEGIN");
    one.query("SET ROLE state_role");
    one.query("ROLLBACK");
    check("app app");
    one.query("BEGIN");
    one.query("SET LOCAL ROLE state_role");
    CHECK(identity(one) == "state_role app");
    one.query("COMMIT");
    check("app app");
}

TEST_CASE("B80 session authorization and role together follow their client") {
    auto& servers = cluster::shared();
    make_role(servers);
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection one(proxy.at(), login_as(servers, "postgres"));
    pq_connection other(proxy.at(), login_as(servers, "postgres"));
    const auto check = [&](const char* who) {
        CHECK(identity(other) == "postgres postgres");
        CHECK(identity(one) == who);
        CHECK(identity(other) == "postgres postgres");
    };
    one.query("SET SESSION AUTHORIZATION app");
    check("app app");
    one.query("SET ROLE state_role");
    check("state_role app");
    one.query("SET SESSION AUTHORIZATION app2");  // ends the role
    check("app2 app2");
    one.query("RESET SESSION AUTHORIZATION");
    check("postgres postgres");
}

TEST_CASE("B80 a role that may not be taken is refused and changes nobody") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection one(proxy.at(), login_as(servers));
    CHECK(code_of(one, "SET ROLE postgres") == "42501");
    CHECK(code_of(one, "SET SESSION AUTHORIZATION postgres") == "42501");
    pq_connection other(proxy.at(), login_as(servers));
    CHECK(identity(other) == "app app");
    CHECK(identity(one) == "app app");
}

TEST_CASE("A client's own notification names the process id that the client knows") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 2}"));
    pq_connection listener(proxy.at(), login_as(servers));
    pq_connection other(proxy.at(), login_as(servers));
    listener.query("LISTEN state_own");
    listener.query("NOTIFY state_own, 'by itself'");
    other.query("NOTIFY state_own, 'by another'");
    listener.query("SELECT 1");
    const auto next = [&] {
        return std::unique_ptr<PGnotify, void (*)(void*)>(PQnotifies(listener.get()), &PQfreemem);
    };
    const auto own = next();
    REQUIRE(own);
    CHECK(own->be_pid == PQbackendPID(listener.get()));
    CHECK(std::string(own->relname) == "state_own");
    CHECK(std::string(own->extra) == "by itself");
    const auto others = next();
    REQUIRE(others);
    CHECK(std::string(others->extra) == "by another");
    CHECK(others->be_pid != PQbackendPID(listener.get()));
    CHECK(!next());
}

TEST_SUITE_END();

}  // namespace weir::integration
