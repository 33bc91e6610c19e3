// What a real failover leaves of a slot.
#include "migration/continuity.hpp"

#include "migration/lease.hpp"
#include "migration/slot.hpp"
#include "tests/migration/source_tools.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weir::migration {

namespace {

server_position ask(const source_address& where) {
    sql_session session;
    REQUIRE_FALSE(session.connect(where).has_value());
    auto found = read_server(session, where, "pgweir_groups");
    const auto text = found.error ? found.error->text : std::string();
    REQUIRE(text == "");
    return std::move(found.position);
}

void make_slot(const integration::cluster& servers, const integration::server_node& on) {
    integration::pq_connection root(on.at, integration::login_as(servers, "postgres"));
    root.query("SELECT pg_create_logical_replication_slot('pgweir_groups', 'pgoutput')");
}

// How long its owner would have waited before it wrote.
lease::clock::duration
take_and_release(const integration::cluster& servers, const std::string& node) {
    const auto asked = lease::clock::now();
    lease own({.migration = "groups", .owner = node});
    const auto where = test::address_of(servers, servers.node(node), "app");
    REQUIRE(test::take(own, where).what == lease_try::taken);
    own.release(true);
    return own.writes_from() - asked;
}

}  // namespace

TEST_SUITE_BEGIN("migration.failover");

TEST_CASE("B142 a promoted standby without the slot is a gap and so is a slot made anew there") {
    const auto servers = integration::cluster::start_own("continuity", "--replicas 1");
    const auto first = test::address_of(servers, servers.node("n1"), "pgweir");
    const auto second = test::address_of(servers, servers.node("n2"), "pgweir");
    make_slot(servers, servers.node("n1"));
    const auto before = ask(first);
    CHECK_FALSE(before.standby);
    CHECK(before.timeline == 1);
    CHECK(before.history.empty());
    REQUIRE(before.slot.has_value());
    journal_position journal{
        .system_identifier = before.system_identifier,
        .timeline = 1,
        .confirmed = before.slot->confirmed_flush};
    CHECK(continuity_of(journal, before) == continuity(carries_on{journal.confirmed}));
    CHECK(continuity_of(journal, ask(second)) == continuity(not_yet{"the server is a standby"}));

    take_and_release(servers, "n1");
    servers.catch_up();
    servers.tool("kill n1");
    servers.tool("promote n2");

    const auto after = ask(second);
    CHECK_FALSE(after.standby);
    CHECK(after.system_identifier == before.system_identifier);
    CHECK(after.timeline == 2);
    REQUIRE(after.history.size() == 1);
    CHECK(after.history[0].timeline == 1);
    CHECK(after.history[0].end > journal.confirmed);
    const lost_tail tail{.timeline = 1, .end = after.history[0].end};
    CHECK(
        continuity_of(journal, after) ==
        continuity(gap{"the slot is not there after the switch to timeline 2", tail})
    );
    journal.sent = after.history[0].end;
    CHECK(
        continuity_of(journal, after) ==
        continuity(gap{"the slot is not there after the switch to timeline 2", {}})
    );

    make_slot(servers, servers.node("n2"));
    const auto anew = ask(second);
    REQUIRE(anew.slot.has_value());
    CHECK(anew.slot->confirmed_flush > after.history[0].end);
    CHECK(std::holds_alternative<gap>(continuity_of(journal, anew)));
    CHECK(take_and_release(servers, "n2") >= std::chrono::seconds(70));
}

TEST_SUITE_END();

}  // namespace weir::migration
