#include "migration/journal.hpp"

#include "migration/journal_safekeeping.hpp"
#include "migration/lease.hpp"
#include "tests/migration/source_tools.hpp"

#include <doctest/doctest.h>

namespace weir::migration {

namespace {

using namespace std::chrono_literals;
using test::clean_journal;

// A journal under a lease of its own.
struct held_journal {
    explicit held_journal(const std::string& name = "groups")
        : owner({.migration = name, .owner = "test"}) {
        REQUIRE(test::take(owner, test::primary_address()).what == lease_try::taken);
    }

    ~held_journal() { owner.release(true); }

    held_journal(const held_journal&) = delete;
    held_journal& operator=(const held_journal&) = delete;

    [[nodiscard]] journal open() { return {server, owner.terms().migration, owner.epoch()}; }

    lease owner;
    source_servers servers = test::shared_servers();
    primary server{servers};
};

void must(const journal_result<void>& result) {
    const auto text = result ? std::string() : result.error().text;
    CHECK(text == "");
}

std::string refusal(const journal_result<void>& result) {
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().what == journal_fault::refused);
    return result.error().text;
}

version at(std::uint64_t lsn, std::uint32_t ordinal = 0) {
    return {.timeline = 1, .lsn = lsn, .ordinal = ordinal};
}

}  // namespace

TEST_SUITE_BEGIN("migration.journal");

TEST_CASE("a migration that nobody has started is not in the journal") {
    const clean_journal clean;
    const auto servers = test::shared_servers();
    primary server(servers);
    journal without(server, "groups", 0);
    const auto found = without.load();
    REQUIRE(found.has_value());
    CHECK_FALSE(found->has_value());
}

TEST_CASE("phases and positions are kept") {
    const clean_journal clean;
    held_journal held;
    auto own = held.open();
    must(own.begin("pgweir_groups", "pgweir_groups", R"({"table": "public.t"})"));
    must(own.begin("pgweir_groups", "pgweir_groups", R"({"table": "public.t"})"));
    const capture_start start{
        .system_identifier = 18'000'000'000'000'000'001U,
        .timeline = 3,
        .history = 4'000'000'000,
        .consistent_point = 0x16B374D848};
    must(own.change_phase_at(phase::preparing, phase::copying, start));
    // The answer of an attempt may be lost: the second one is no error.
    must(own.change_phase_at(phase::preparing, phase::copying, start));
    auto found = own.load();
    REQUIRE(found.has_value());
    REQUIRE(found->has_value());
    CHECK((*found)->phase == phase::copying);
    CHECK((*found)->reason == "");
    CHECK((*found)->slot == "pgweir_groups");
    CHECK((*found)->publication == "pgweir_groups");
    CHECK((*found)->system_identifier == 18'000'000'000'000'000'001U);
    CHECK((*found)->timeline == 3);
    CHECK((*found)->written_timeline() == 4'000'000'003);
    CHECK((*found)->consistent_point == 0x16B374D848);
    CHECK((*found)->confirmed == 0x16B374D848);
    CHECK((*found)->sent == 0x16B374D848);
    CHECK((*found)->fingerprint == R"({"table": "public.t"})");

    CHECK((*found)->leaves.empty());
    must(own.save_leaves(std::vector<std::uint32_t>{16400, 4294967295}));
    must(own.confirm(4, 0x16B374D900, 0x16C0000000));
    must(own.change_phase(phase::copying, phase::copying_paused, "it's \\ paused"));
    found = own.load();
    REQUIRE(found.has_value());
    CHECK((*found)->phase == phase::copying_paused);
    CHECK((*found)->reason == "it's \\ paused");
    CHECK((*found)->timeline == 4);
    CHECK((*found)->consistent_point == 0x16B374D848);
    CHECK((*found)->confirmed == 0x16B374D900);
    CHECK((*found)->sent == 0x16C0000000);
    CHECK((*found)->leaves == std::vector<std::uint32_t>{16400, 4294967295});
}

TEST_CASE("phases change only as the state allows") {
    const clean_journal clean;
    held_journal held;
    auto own = held.open();
    CHECK(refusal(own.confirm(1, 1, 1)) == "migration groups is not in the journal");
    must(own.begin("s", "p", "{}"));
    CHECK(
        refusal(own.change_phase(phase::preparing, phase::dual_writing, "")) ==
        "a migration does not go from preparing to dual_writing"
    );
    CHECK(
        refusal(own.change_phase(phase::copying, phase::dual_writing, "")) ==
        "migration groups is not in phase copying"
    );
    must(own.change_phase_at(phase::preparing, phase::copying, {1, 1, 0, 1}));
    CHECK(refusal(own.begin("s", "p", "{}")) == "migration groups has been started already");
    CHECK(refusal(own.forget()) == "migration groups is not in phase removing");
    must(own.change_phase(phase::copying, phase::failed, "no more"));
    must(own.begin("s2", "p2", "{}", 7));
    const auto found = own.load();
    REQUIRE(found.has_value());
    CHECK((*found)->phase == phase::preparing);
    CHECK((*found)->slot == "s2");
    CHECK((*found)->history == 7);
    must(own.change_reason(phase::preparing, "waits"));
    CHECK((*own.load())->reason == "waits");
    CHECK(
        refusal(own.change_reason(phase::copying, "x")) ==
        "migration groups is not in phase copying"
    );
    CHECK((*found)->consistent_point == 0);
    CHECK((*found)->reason == "");
}

TEST_CASE("B148 a writer that has lost the lease changes nothing") {
    const clean_journal clean;
    held_journal old;
    auto late = old.open();
    must(late.begin("s", "p", "{}"));
    must(late.change_phase_at(phase::preparing, phase::copying, {1, 1, 0, 0x10}));
    copy_range range;
    range.number = 1;
    must(late.save_ranges({&range, 1}));
    old.owner.release(true);
    held_journal now;
    REQUIRE(now.owner.epoch() == 2);

    const auto fenced = [](const auto& result) {
        return !result && result.error().what == journal_fault::fenced;
    };
    CHECK(fenced(late.begin("x", "x", "{}")));
    CHECK(fenced(late.change_phase(phase::copying, phase::failed, "")));
    CHECK(fenced(late.confirm(1, 0x20, 0x20)));
    CHECK(fenced(late.save_leaves({})));
    range.rows = 7;
    CHECK(fenced(late.save_ranges({&range, 1})));
    CHECK(fenced(late.save_progress(range)));
    CHECK(fenced(late.drop_ranges()));
    const safekeeping::grave grave{.space = "n", .key = "1", .version = at(5)};
    CHECK(fenced(late.bury({&grave, 1})));
    CHECK(fenced(late.drop_tombstones()));
    const dead_letter letter{
        .space = "n",
        .key = {std::int64_t{1}},
        .version = at(5),
        .operation = "upsert",
        .reason = "r"};
    CHECK(fenced(late.set_aside({&letter, 1})));
    const document_name name{"n", "1"};
    CHECK(fenced(late.drop_letters({&name, 1}, at(9))));
    CHECK(fenced(late.save_verify({})));
    CHECK(fenced(late.drop_verify()));
    CHECK(fenced(late.forget()));

    auto own = now.open();
    const auto found = own.load();
    REQUIRE(found.has_value());
    CHECK((*found)->phase == phase::copying);
    CHECK((*found)->confirmed == 0x10);
    REQUIRE(own.ranges().has_value());
    CHECK(own.ranges()->at(0).rows == 0);
    CHECK(own.buried("n", std::vector<std::string>{"1"})->at(0) == std::nullopt);
    CHECK(*own.count_letters() == 0);
    CHECK_FALSE(own.last_verify()->has_value());
}

TEST_CASE("ranges of the copy are kept") {
    const clean_journal clean;
    held_journal held;
    auto own = held.open();
    std::vector<copy_range> ranges(2);
    ranges[0].number = 1;
    ranges[0].keys.high = {"a,\"b\\", ""};
    ranges[1].number = 2;
    ranges[1].keys.low = {"a,\"b\\", ""};
    must(own.save_ranges(ranges));
    ranges[1].last = {"NULL", "{}"};
    ranges[1].rows = 12;
    ranges[1].done = true;
    must(own.save_progress(ranges[1]));
    const auto found = own.ranges();
    REQUIRE(found.has_value());
    REQUIRE(found->size() == 2);
    CHECK_FALSE(found->at(0).keys.low.has_value());
    CHECK(found->at(0).keys.high == std::vector<std::string>{"a,\"b\\", ""});
    CHECK_FALSE(found->at(0).last.has_value());
    CHECK_FALSE(found->at(0).done);
    CHECK(found->at(1).number == 2);
    CHECK(found->at(1).keys.low == std::vector<std::string>{"a,\"b\\", ""});
    CHECK_FALSE(found->at(1).keys.high.has_value());
    CHECK(found->at(1).last == std::vector<std::string>{"NULL", "{}"});
    CHECK(found->at(1).rows == 12);
    CHECK(found->at(1).done);
    copy_range unknown;
    unknown.number = 3;
    CHECK(
        refusal(own.save_progress(unknown)) ==
        "range 3 of the copy of migration groups is not in the journal"
    );
    must(own.drop_ranges());
    CHECK(own.ranges()->empty());
}

TEST_CASE("tombstones keep the newest version") {
    const clean_journal clean;
    held_journal held;
    journal_safekeeping own(held.servers, "groups", held.owner.epoch(), [](const auto& why) {
        FAIL(why.text);
    });
    // Long enough that no index would take it, and with no run that could be compressed.
    std::string long_key;
    for (unsigned i = 0; i < 20'000; ++i) {
        long_key += static_cast<char>('!' + (i * i * 31 + i / 7) % 90);
    }
    own.bury(std::vector<safekeeping::grave>{
        {"n", "1", at(0x10, 1)},
        {"n", "1", at(0x10, 10)},
        {"n", "1", at(0x10, 9)},
        {"m", "1", at(0x99)},
        {"n", long_key, at(0x11)}});
    own.bury(std::vector<safekeeping::grave>{{"n", "1", at(0x9)}, {"m", "1", at(0x100)}});
    const std::vector<std::string> keys{"2", long_key, "1"};
    const auto found = own.buried("n", keys);
    REQUIRE(found.size() == 3);
    CHECK(found[0] == std::nullopt);
    CHECK(found[1] == at(0x11));
    CHECK(found[2] == at(0x10, 10));
    CHECK(own.buried("m", keys)[2] == at(0x100));
    CHECK(own.buried("n", {}).empty());

    auto other = held_journal("other");
    auto elsewhere = other.open();
    CHECK(elsewhere.buried("n", keys)->at(2) == std::nullopt);
    auto direct = held.open();
    CHECK(*direct.drop_tombstones(2) == 2);
    CHECK(*direct.drop_tombstones(2) == 1);
    CHECK(*direct.drop_tombstones(2) == 0);
}

TEST_CASE("dead letters are kept until a newer version is there") {
    const clean_journal clean;
    held_journal held;
    auto own = held.open();
    const auto letter_of = [](std::int64_t id, version what, const std::string& reason) {
        return dead_letter{
            .space = "n",
            .key = {id, std::string("a,b")},
            .version = what,
            .operation = "upsert",
            .reason = reason};
    };
    must(own.set_aside(
        std::vector<dead_letter>{letter_of(1, at(5), "first"), letter_of(2, at(6), "other")}
    ));
    must(own.set_aside(std::vector<dead_letter>{letter_of(1, at(7), "again")}));
    must(own.set_aside(std::vector<dead_letter>{letter_of(1, at(4), "too late")}));
    CHECK(*own.count_letters() == 2);
    const auto found = own.letters(10);
    REQUIRE(found.has_value());
    REQUIRE(found->size() == 2);
    CHECK(found->at(0).what.reason == "other");
    const auto& one = found->at(1);
    CHECK(one.what.space == "n");
    CHECK(one.what.key == key{std::string("1"), std::string("a,b")});
    CHECK(one.key_columns == std::vector<std::string>{"1", "a,b"});
    CHECK(one.what.version == at(7));
    CHECK(one.what.operation == "upsert");
    CHECK(one.what.reason == "again");
    CHECK(one.attempts == 2);
    CHECK(one.at.size() == std::string_view("2026-01-01T00:00:00Z").size());
    CHECK(own.letters(1)->size() == 1);

    const std::vector<document_name> both{{"n", "(1,a,b)"}, {"n", "(2,a,b)"}};
    must(own.drop_letters(both, at(6)));
    REQUIRE(own.letters(10)->size() == 1);
    CHECK(own.letters(10)->at(0).what.version == at(7));
    must(own.drop_letters(both, at(7)));
    CHECK(*own.count_letters() == 0);
}

TEST_CASE("a verify is kept with its place and its counts") {
    const clean_journal clean;
    held_journal held;
    auto own = held.open();
    CHECK_FALSE(own.last_verify()->has_value());
    verify_progress progress{
        .repair = true,
        .over = false,
        .failure = "",
        .cursor = {},
        .report = {}};
    const auto kept = [&] {
        must(own.save_verify(progress));
        CHECK(*own.last_verify() == std::optional(progress));
    };
    kept();
    progress.cursor.last = {"it's {\"a\",\\}", "17"};
    progress.report = {
        .rows = 1000,
        .documents = 1,
        .missing = 2,
        .extra = 3,
        .different = 4,
        .repaired = 5,
        .unrepaired = 6,
        .unsettled = 7,
        .examples = {}};
    kept();
    progress.cursor = {.at = verify_cursor::side::store, .last = {}, .space = "", .next = ""};
    kept();
    progress.cursor.space = "org-3";
    progress.cursor.next = "\"x\"";
    kept();
    progress.cursor.next = "";
    progress.cursor.space_over = true;
    kept();
    progress.repair = false;
    progress.cursor = {};
    progress.cursor.at = verify_cursor::side::done;
    progress.over = true;
    progress.failure = "the store is gone";
    kept();
    must(own.drop_verify());
    CHECK_FALSE(own.last_verify()->has_value());
}

TEST_CASE("a migration that is removed leaves nothing but its epoch") {
    const clean_journal clean;
    held_journal held;
    auto own = held.open();
    must(own.begin("s", "p", "{}"));
    copy_range range;
    must(own.save_ranges({&range, 1}));
    const safekeeping::grave grave{.space = "n", .key = "1", .version = at(5)};
    must(own.bury({&grave, 1}));
    must(own.save_verify({}));
    must(own.change_phase(phase::preparing, phase::removing, ""));
    must(own.forget());
    must(own.forget());
    auto session = test::superuser();
    for (const std::string table :
         {"migration", "copy_range", "tombstone", "dead_letter", "verify"}) {
        CAPTURE(table);
        CHECK(session.value("SELECT count(*) FROM pgweir." + table) == "0");
    }
    CHECK(session.value("SELECT epoch FROM pgweir.lease") == "1");
}

TEST_CASE("a journal survives the end of its session") {
    const clean_journal clean;
    held_journal held;
    auto own = held.open();
    must(own.begin("s", "p", "{}"));
    auto session = test::superuser();
    REQUIRE(
        session.value("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE "
                      "application_name = 'pgweir migration' AND pid NOT IN (SELECT pid FROM "
                      "pg_locks WHERE locktype = 'advisory')") == "1"
    );
    must(own.change_phase_at(phase::preparing, phase::copying, {1, 1, 0, 0x10}));
    CHECK((*own.load())->phase == phase::copying);
}

TEST_SUITE_END();

}  // namespace weir::migration
