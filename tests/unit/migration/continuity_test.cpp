#include "migration/continuity.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weir::migration {

namespace {

constexpr std::uint64_t system_id = 7'000'000'000'000'000'001;

slot_state good_slot(std::uint64_t confirmed) {
    slot_state slot;
    slot.plugin = "pgoutput";
    slot.database = "app";
    slot.restart_lsn = confirmed - 0x100;
    slot.confirmed_flush = confirmed;
    slot.wal_status = "reserved";
    return slot;
}

journal_position journal_at(std::uint32_t timeline, std::uint64_t confirmed) {
    return {.system_identifier = system_id, .timeline = timeline, .confirmed = confirmed};
}

server_position server_at(std::uint32_t timeline, std::optional<slot_state> slot) {
    server_position server;
    server.system_identifier = system_id;
    server.timeline = timeline;
    server.slot = std::move(slot);
    for (std::uint32_t past = 1; past < timeline; ++past) {
        server.history.push_back({.timeline = past, .end = 0x1000ULL * past});
    }
    return server;
}

std::string reason_of(const continuity& what) {
    if (const auto* found = std::get_if<gap>(&what)) {
        return found->reason;
    }
    const auto* waits = std::get_if<not_yet>(&what);
    return waits == nullptr ? "" : waits->reason;
}

}  // namespace

TEST_SUITE_BEGIN("migration.continuity");

TEST_CASE("the same server goes on") {
    const auto journal = journal_at(1, 0x500);
    CHECK(continuity_of(journal, server_at(1, good_slot(0x500))) == continuity(carries_on{0x500}));
    // A crash of the server may set the slot back: it sends again what the store has.
    CHECK(continuity_of(journal, server_at(1, good_slot(0x400))) == continuity(carries_on{0x500}));
}

TEST_CASE("B142 a slot that does not continue the stored position is a gap and never read from") {
    const auto journal = journal_at(1, 0x500);

    struct row {
        std::string_view name;
        void (*spoil)(server_position&);
        std::string_view reason;
    };

    const row rows[] = {
        {"missing", [](server_position& s) { s.slot.reset(); }, "the slot is not there"},
        {"made anew at the newest position",
         [](server_position& s) { s.slot->confirmed_flush = 0x501; },
         "the slot stands at 0/501, beyond the confirmed position 0/500: it was made anew or "
         "moved, and what lies between was missed"},
        {"of another plugin",
         [](server_position& s) { s.slot->plugin = "test_decoding"; },
         "the slot of that name belongs to somebody else: its plugin is 'test_decoding'"},
        {"lost",
         [](server_position& s) { s.slot->wal_status = "lost"; },
         "the server has removed WAL that the slot needs"},
        {"invalidated",
         [](server_position& s) { s.slot->invalidation_reason = "rows_removed"; },
         "the server has invalidated the slot: rows_removed"},
        {"conflicting",
         [](server_position& s) { s.slot->conflicting = true; },
         "the slot conflicts with recovery"},
        {"another cluster",
         [](server_position& s) { s.system_identifier = 5; },
         "the server is of another cluster: its system identifier is 5, not "
         "7000000000000000001"},
    };
    for (const auto& r : rows) {
        CAPTURE(r.name);
        auto server = server_at(1, good_slot(0x500));
        r.spoil(server);
        const auto found = continuity_of(journal, server);
        CHECK(std::holds_alternative<gap>(found));
        CHECK(reason_of(found) == r.reason);
    }
}

TEST_CASE("B142 after a failover with and without the slot") {
    auto journal = journal_at(1, 0xF00);
    journal.sent = 0xF80;
    // Timeline 1 ended at 0/1000: all that was sent is in the new timeline.
    CHECK(continuity_of(journal, server_at(2, good_slot(0xE00))) == continuity(carries_on{0xF00}));
    // The note of the last confirmation was not replicated, the slot was.
    CHECK(continuity_of(journal, server_at(2, good_slot(0xFFF))) == continuity(carries_on{0xF00}));
    const auto without = continuity_of(journal, server_at(2, std::nullopt));
    CHECK(without == continuity(gap{"the slot is not there after the switch to timeline 2", {}}));
    const auto anew = continuity_of(journal, server_at(2, good_slot(0x1001)));
    CHECK(
        anew ==
        continuity(gap{
            "the slot stands at 0/1001, beyond the end of the old timeline 0/1000: it was made "
            "anew or moved, and what lies between was missed",
            {}})
    );
}

TEST_CASE("a tail of commits lost at promotion is looked for") {
    const lost_tail tail{.timeline = 1, .end = 0x1000};
    auto journal = journal_at(1, 0x1200);
    journal.sent = 0x1300;
    // Reading goes on at the end of the old timeline, not at what was confirmed beyond it.
    CHECK(
        continuity_of(journal, server_at(2, good_slot(0xE00))) ==
        continuity(carries_on{0x1000, tail})
    );
    CHECK(std::get<gap>(continuity_of(journal, server_at(2, std::nullopt))).tail == tail);
    // After a restart nobody knows what was sent.
    journal = journal_at(1, 0x800);
    CHECK(
        continuity_of(journal, server_at(2, good_slot(0x800))) ==
        continuity(carries_on{0x800, tail})
    );
    CHECK(beyond(tail, {.timeline = 1, .lsn = 0x1001, .ordinal = 0}));
    CHECK_FALSE(beyond(tail, {.timeline = 1, .lsn = 0x1000, .ordinal = 7}));
    CHECK_FALSE(beyond(tail, {.timeline = 2, .lsn = 0x1001, .ordinal = 0}));
}

TEST_CASE("several switches of the timeline") {
    auto journal = journal_at(1, 0xF00);
    // Timeline 1 ended at 0/1000, timeline 2 at 0/2000.
    const auto found = continuity_of(journal, server_at(3, good_slot(0xF00)));
    CHECK(found == continuity(carries_on{0xF00, lost_tail{.timeline = 1, .end = 0x1000}}));
    journal = journal_at(2, 0x1800);
    journal.sent = 0x1900;
    CHECK(
        continuity_of(journal, server_at(3, good_slot(0x1800))) == continuity(carries_on{0x1800})
    );
    auto forked = server_at(3, good_slot(0x1800));
    forked.history.erase(forked.history.begin() + 1);
    CHECK(
        reason_of(continuity_of(journal, forked)) ==
        "timeline 2 is not in the history of the server's timeline 3"
    );
}

TEST_CASE("servers that are not the one to ask") {
    auto standby = server_at(1, std::nullopt);
    standby.standby = true;
    CHECK(
        continuity_of(journal_at(1, 0x500), standby) ==
        continuity(not_yet{"the server is a standby"})
    );
    CHECK(
        continuity_of(journal_at(2, 0x1500), server_at(1, good_slot(0x500))) ==
        continuity(not_yet{"the server is on timeline 1, which timeline 2 has replaced"})
    );
}

TEST_CASE("history files are read") {
    const auto found = parse_history(
        "# made by hand\n"
        "1\t0/3000148\tno recovery target specified\n"
        "\n"
        "  2\t1A/4000000\tbefore 2000-01-01 00:00:00+00\n"
    );
    REQUIRE(found.has_value());
    REQUIRE(found->size() == 2);
    CHECK((*found)[0] == timeline_end{.timeline = 1, .end = 0x3000148});
    CHECK((*found)[1] == timeline_end{.timeline = 2, .end = 0x1A04000000});
    CHECK(parse_history("")->empty());
    CHECK(parse_history("1\t0/10")->size() == 1);
    for (const std::string_view text :
         {"1", "x\t0/1", "1x\t0/1", "1\t0", "-1\t0/1", "1 0/1 x\n2"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_history(text).has_value());
    }
}

TEST_CASE("B143 a slot is protected when one standby has a valid synchronised copy") {
    const standby_slot good{.server = "b", .present = true, .synced = true};
    const standby_slot missing{.server = "c"};
    // Left by the server's time as primary: blocks the synchronisation of every slot.
    const standby_slot left{.server = "d", .present = true, .synced = false};
    const standby_slot invalid{
        .server = "e",
        .present = true,
        .synced = true,
        .invalidation_reason = "wal_removed"};

    const auto both = protection_of(true, std::vector{good, missing});
    CHECK(both.given);
    REQUIRE(both.advice.size() == 1);
    CHECK(both.advice[0].starts_with("c has no copy of the slot: set sync_replication_slots = on"));

    const auto after_switch_over = protection_of(true, std::vector{left});
    CHECK_FALSE(after_switch_over.given);
    REQUIRE(after_switch_over.advice.size() == 1);
    CHECK(after_switch_over.advice[0].starts_with("d has a slot of its own of that name"));
    CHECK(after_switch_over.advice[0].ends_with("drop it there with pg_drop_replication_slot"));

    CHECK_FALSE(protection_of(true, std::vector{invalid}).given);
    CHECK_FALSE(protection_of(true, {}).given);
    CHECK(protection_of(true, {}).advice.size() == 1);
    CHECK_FALSE(protection_of(false, std::vector{good}).given);
    CHECK(protection_of(true, std::vector{good}).advice.empty());
}

TEST_SUITE_END();

}  // namespace weir::migration
