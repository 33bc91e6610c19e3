// What a server must have for a migration, with answers made by hand.
#include "migration/server_facts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace weir::migration {

namespace {

server_facts good_facts() {
    server_facts facts;
    facts.version = 170002;
    facts.wal_level = "logical";
    facts.slots = 10;
    facts.slots_used = 9;
    facts.senders = 10;
    facts.senders_used = 9;
    facts.keep_size = 32LL << 30;
    facts.synchronous_standbys = "b";
    facts.synchronized_slots = "b";
    facts.idle_slot_timeout = "0";
    facts.role = "m";
    facts.may_replicate = true;
    facts.may_create = true;
    facts.owns_table = true;
    return facts;
}

config::migration good_intent() {
    config::migration intent;
    intent.name = "groups";
    intent.table = "public.docs";
    return intent;
}

std::string faults(const server_facts& facts, const config::migration& intent) {
    std::string text;
    for (const auto& one : server_checks(facts, intent)) {
        if (one.result != verdict::ok) {
            text += one.name + " " + std::string(to_string(one.result)) + ": " + one.text + "\n";
        }
    }
    return text;
}

struct row {
    std::string_view name;
    void (*spoil)(server_facts&, config::migration&);
    std::string_view faults;
};

void check_row(const row& r) {
    CAPTURE(r.name);
    auto facts = good_facts();
    auto intent = good_intent();
    r.spoil(facts, intent);
    CHECK(faults(facts, intent) == r.faults);
}

}  // namespace

TEST_SUITE_BEGIN("migration.server_checks");

TEST_CASE("a server that has everything passes") {
    CHECK(faults(good_facts(), good_intent()) == "");
    std::string names;
    for (const auto& one : server_checks(good_facts(), good_intent())) {
        names += one.name + ", ";
    }
    CHECK(
        names ==
        "server, schema pgweir, wal_level, replication right, publication, slot, walsenders, "
        "transactions, retained WAL, failover, synchronous standby, "
    );
}

TEST_CASE("what the server lacks") {
    const row rows[] = {
        {"standby",
         [](auto& f, auto&) { f.standby = true; },
         "server refused: is a standby: the primary is needed\n"},
        {"old version",
         [](auto& f, auto&) {
             f.version = 130011;
             f.idle_slot_timeout.clear();
         },
         "server refused: PostgreSQL 13; expected 14 or later\n"
         "failover warning: before PostgreSQL 17 a failover loses the slot: the gap is found, "
         "reads from the store stop, and verify with repair closes it\n"},
        {"wal_level",
         [](auto& f, auto&) { f.wal_level = "replica"; },
         "wal_level refused: is replica: ALTER SYSTEM SET wal_level = logical and restart the "
         "server, or use capture: outbox\n"},
        {"slots",
         [](auto& f, auto&) { f.slots_used = 10; },
         "slot refused: all 10 replication slots are in use: drop one that is not needed, or raise "
         "max_replication_slots and restart the server\n"},
        {"senders",
         [](auto& f, auto&) { f.senders_used = 10; },
         "walsenders refused: all 10 are in use: raise max_wal_senders and restart the server\n"},
        {"no standby synchronises slots",
         [](auto& f, auto&) { f.synchronized_slots.clear(); },
         "failover warning: the slot is made with failover = true. For it to follow a failover, "
         "set sync_replication_slots and hot_standby_feedback on the standbys, and "
         "synchronized_standby_slots to their slots here, so that the store never gets commits "
         "that a promoted standby lacks\n"},
        {"idle slots",
         [](auto& f, auto&) { f.idle_slot_timeout = "1d"; },
         "idle slots warning: idle_replication_slot_timeout is 1d: a proxy that is away for longer "
         "finds its slot invalid and the store stale\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_row);
}

TEST_CASE("what the role lacks") {
    const row rows[] = {
        {"replication",
         [](auto& f, auto&) { f.may_replicate = false; },
         "replication right refused: ALTER ROLE \"m\" REPLICATION\n"},
        {"ownership",
         [](auto& f, auto&) { f.owns_table = false; },
         "publication refused: m may not make it. Let the table's owner or a superuser do it: "
         "CREATE PUBLICATION pgweir_groups FOR TABLE public.docs WITH (publish_via_partition_root "
         "= false)\n"},
        {"ownership with a publication that is there",
         [](auto& f, auto&) {
             f.owns_table = false;
             f.publication.state = publication_state::fits;
         },
         ""},
        {"another's publication",
         [](auto& f, auto&) {
             f.publication.state = publication_state::other;
             f.publication.difference = "it is for all tables";
         },
         "publication refused: pgweir_groups is there and does not fit: it is for all tables. DROP "
         "PUBLICATION pgweir_groups, if nobody else uses it\n"},
        {"no schema may be made",
         [](auto& f, auto&) {
             f.may_create = false;
             f.publication.state = publication_state::fits;
         },
         "schema pgweir refused: m may not make it: CREATE SCHEMA pgweir AUTHORIZATION \"m\"\n"},
        {"another's schema",
         [](auto& f, auto&) { f.has_schema = true; },
         "schema pgweir refused: is there, and m may not use it: GRANT USAGE, CREATE ON SCHEMA "
         "pgweir TO \"m\"\n"},
        {"a schema of another version",
         [](auto& f, auto&) {
             f.has_schema = true;
             f.may_use_schema = true;
             f.journal_made_by = "3";
         },
         "schema pgweir refused: has version 3; this program works with version 2\n"},
        {"triggers for the outbox",
         [](auto& f, auto& i) {
             i.capture = config::capture::outbox;
             f.owns_table = false;
             f.wal_level = "minimal";
             f.may_replicate = false;
         },
         "triggers refused: GRANT TRIGGER ON public.docs TO \"m\"\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_row);
}

TEST_CASE("slots of somebody else and transactions that a slot waits for") {
    const row rows[] = {
        {"slot that the journal does not know",
         [](auto& f, auto&) {
             f.slot = slot_state{};
             f.slot->plugin = "wal2json";
             f.slot->database = "other";
         },
         "slot refused: pgweir_groups is there and is not in this migration's journal (plugin "
         "wal2json, database other). If nobody reads from it: SELECT "
         "pg_drop_replication_slot('pgweir_groups')\n"},
        {"our own slot",
         [](auto& f, auto&) {
             f.slot = slot_state{};
             f.slot_in_journal = true;
             f.slots_used = 10;
         },
         ""},
        {"transactions",
         [](auto& f, auto&) {
             f.transactions = {
                 {.name = "pid 1 (app)", .seconds = 9},
                 {.name = "pid 2 (app)", .seconds = 10},
                 {.name = "pid 3 (x)", .seconds = {}},
                 {.name = "prepared transaction a (x)", .seconds = 1, .prepared = true}};
         },
         "transactions warning: the making of the slot waits until these have ended: pid 2 (app) "
         "10 s, pid 3 (x) age hidden, prepared transaction a (x) 1 s\n"},
        {"many transactions",
         [](auto& f, auto&) { f.transactions.assign(7, {.name = "p", .seconds = 60}); },
         "transactions warning: the making of the slot waits until these have ended: p 60 s, p 60 "
         "s, p 60 s, p 60 s, p 60 s and 2 more\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_row);
}

TEST_CASE("WAL that a slot may hold back is limited on both sides") {
    const row rows[] = {
        {"server lower than the migration",
         [](auto& f, auto&) { f.keep_size = 8LL << 30; },
         "retained WAL warning: the server removes WAL that the slot needs beyond "
         "max_slot_wal_keep_size = 8GiB, before max_retained_wal = 16GiB is reached: set that "
         "lower\n"},
        {"no limit of the migration",
         [](auto&, auto& i) { i.max_retained_wal = 0; },
         "retained WAL warning: the server removes WAL that the slot needs beyond "
         "max_slot_wal_keep_size = 32GiB, before max_retained_wal is reached: set that lower\n"},
        {"no limit of the server",
         [](auto& f, auto&) { f.keep_size = -1; },
         "retained WAL refused: max_slot_wal_keep_size is -1: when the proxy is gone for good, the "
         "slot fills the primary's disk. ALTER SYSTEM SET max_slot_wal_keep_size = '20GB' and "
         "SELECT pg_reload_conf(), or FORCE\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_row);
    auto facts = good_facts();
    facts.keep_size = -1;
    CHECK_FALSE(passes(server_checks(facts, good_intent())));
    CHECK(passes(server_checks(facts, good_intent()), true));
    facts.standby = true;
    CHECK_FALSE(passes(server_checks(facts, good_intent()), true));
}

TEST_SUITE_END();

}  // namespace weir::migration
