#include "migration/preflight.hpp"

#include "migration/journal_schema.hpp"
#include "migration/server_facts.hpp"
#include "tests/migration/shelf_store.hpp"
#include "tests/migration/source_tools.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weir::migration {

namespace {

// A table of a superuser's, and a role that has only what the script gives.
class stage {
public:
    stage() {
        clean();
        root_.query(
            "CREATE SCHEMA plans; CREATE TABLE plans.t (id int PRIMARY KEY, e vector(3)); "
            "CREATE ROLE pgweir_migrate LOGIN PASSWORD 'x'"
        );
        intent.name = "flight_test";
        intent.user = "pgweir_migrate";
        intent.table = "plans.t";
        intent.key = {"id"};
        intent.embedding = "e";
        intent.name_pattern = "flight";
        where = test::primary_address();
        where.user = "pgweir_migrate";
        where.password = "x";
    }

    ~stage() { clean(); }

    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;

    void query(const std::string& sql) { root_.query(sql); }

    // The script without what psql does itself, on a role that is there.
    void grant() {
        auto script = grant_script(intent, "app");
        script.erase(
            script.find("\\password"),
            script.find("GRANT CONNECT") - script.find("\\password")
        );
        const std::string create = "CREATE ROLE";
        script.replace(script.find(create), create.size(), "ALTER ROLE");
        root_.query(script);
    }

    [[nodiscard]] std::vector<check> look() {
        sql_session session;
        const auto failed = session.connect(where);
        const auto text = failed ? failed->text : std::string();
        REQUIRE(text == "");
        return preflight(
                   session,
                   where,
                   intent,
                   [this](const plan&) {
                       if (store_is_bad) {
                           throw std::runtime_error("no such host");
                       }
                       return std::make_unique<test::shelf_store>();
                   },
                   [] {}
        ).checks;
    }

    config::migration intent;
    source_address where;
    bool store_is_bad = false;

private:
    void clean() {
        root_.query("DROP SCHEMA IF EXISTS plans CASCADE");
        root_.query("DROP SCHEMA IF EXISTS pgweir CASCADE");
        root_.try_query("DROP PUBLICATION IF EXISTS pgweir_flight_test");
        root_.try_query("SELECT pg_drop_replication_slot('pgweir_flight_test')");
        root_.try_query("DROP OWNED BY pgweir_migrate");
        root_.try_query("DROP ROLE IF EXISTS pgweir_migrate");
    }

    integration::pq_connection root_ = test::superuser();
};

std::string refused(const std::vector<check>& checks) {
    std::string names;
    for (const auto& one : checks) {
        names += one.result == verdict::refused ? one.name + ", " : "";
    }
    return names;
}

std::string text_of(const std::vector<check>& checks, const std::string& name) {
    for (const auto& one : checks) {
        if (one.name == name) {
            return std::string(to_string(one.result)) + ": " + one.text;
        }
    }
    return "nothing";
}

}  // namespace

TEST_SUITE_BEGIN("migration.preflight");

TEST_CASE("a role without rights learns of each and the script gives all of them") {
    stage here;
    CHECK(refused(here.look()) == "schema pgweir, replication right, publication, table, ");
    here.grant();
    const auto checks = here.look();
    CHECK(refused(checks) == "");
    CHECK(passes(checks));
    CHECK(text_of(checks, "publication") == "ok: pgweir_flight_test is there and fits");
    CHECK(text_of(checks, "schema pgweir") == "ok: is there, empty");
    CHECK(text_of(checks, "table") == "ok: plans.t");
    CHECK(text_of(checks, "replication connection").starts_with("ok: "));
    CHECK(text_of(checks, "store") == "ok: answers; 0 of its namespaces are there");
    CHECK(
        text_of(checks, "retained WAL") ==
        "warning: the server removes WAL that the slot needs beyond max_slot_wal_keep_size = 2GiB, "
        "before max_retained_wal = 16GiB is reached: set that lower"
    );
    // The role can then do all that a migration does.
    sql_session session;
    REQUIRE_FALSE(session.connect(here.where).has_value());
    CHECK_FALSE(ensure_journal(session).has_value());
    CHECK(
        session.run("SELECT pg_create_logical_replication_slot('pgweir_flight_test', 'pgoutput')")
            .error.has_value() == false
    );
    CHECK(text_of(here.look(), "schema pgweir") == "ok: is there");
    CHECK(
        text_of(here.look(), "slot").starts_with("refused: pgweir_flight_test is there and is not")
    );
}

TEST_CASE("a dry run changes nothing") {
    stage here;
    here.grant();
    auto root = test::superuser();
    const std::string state =
        "SELECT (SELECT count(*) FROM pg_class), (SELECT count(*) FROM "
        "pg_publication), (SELECT count(*) FROM pg_replication_slots)";
    const auto before = root.query(state);
    static_cast<void>(here.look());
    const auto after = root.query(state);
    for (int column = 0; column < 3; ++column) {
        CHECK(after.at(0, column) == before.at(0, column));
    }
}

TEST_CASE("transactions that a slot would wait for are named") {
    stage here;
    here.grant();
    auto other = test::superuser();
    other.query("BEGIN");
    const auto pid = other.value("SELECT pg_backend_pid() + 0 * txid_current()");
    sql_session session;
    REQUIRE_FALSE(session.connect(here.where).has_value());
    plan what;
    what.name = "flight_test";
    const auto facts = read_facts(session, what);
    REQUIRE_FALSE(facts.error.has_value());
    REQUIRE(facts.facts.transactions.size() == 1);
    CHECK(facts.facts.transactions[0].name.starts_with("pid " + pid + " ("));
    // Ages of others are hidden from a role without pg_read_all_stats.
    CHECK_FALSE(facts.facts.transactions[0].seconds.has_value());
    CHECK(
        text_of(here.look(), "transactions")
            .starts_with("warning: the making of the slot waits until these have ended: pid " + pid)
    );
    here.query("GRANT pg_read_all_stats TO pgweir_migrate");
    CHECK(read_facts(session, what).facts.transactions.at(0).seconds.has_value());
}

TEST_CASE("a table that may not be published is refused before anything is made") {
    stage here;
    here.grant();
    here.query("ALTER TABLE plans.t REPLICA IDENTITY NOTHING");
    CHECK(text_of(here.look(), "replica identity")
              .starts_with("refused: plans.t has no replica identity: once it is published, the "
                           "application's own UPDATEs and DELETEs would fail"));
    // That is what would happen.
    here.query("INSERT INTO plans.t VALUES (1, '[1,2,3]')");
    auto root = test::superuser();
    CHECK(root.try_query("UPDATE plans.t SET id = 2").code() == "55000");
}

TEST_CASE("an unreachable store is refused") {
    stage here;
    here.grant();
    here.store_is_bad = true;
    CHECK(text_of(here.look(), "store") == "refused: no such host");
}

TEST_CASE("B145 a store with another layout is refused and left alone") {
    plan what;
    what.layout.dimensions = 3;
    what.name_of = {.before = "org-", .tenant = true, .after = ".v"};
    test::shelf_store target;
    target.counts = {{"org-1.v", 0}, {"org-1.w", 7}};
    const auto look = [&] { return store_checks(target, what, version{1, 50, 0}, [] {}).checks; };
    auto checks = look();
    CHECK(text_of(checks, "store") == "ok: answers; 1 of its namespaces are there");
    CHECK(text_of(checks, "store's layout") == "ok: 3 dimensions");
    CHECK(text_of(checks, "store's documents") == "nothing");
    target.counts["org-1.v"] = 1;
    target.versions["org-1.v"] = {{1, 50, 0}};
    checks = look();
    CHECK(
        text_of(checks, "store's documents") ==
        "warning: 1 documents are there already; those of rows that are no longer there stay until "
        "verify with repair removes them"
    );
    target.misfit = store::error{.what = store::fault::refused, .text = "4 dimensions"};
    checks = look();
    CHECK(
        text_of(checks, "store's layout") ==
        "refused: org-1.v does not fit: 4 dimensions. Nothing is ever dropped by itself: use "
        "another namespace, or remove this one"
    );
    CHECK_FALSE(target.written);
    CHECK(target.ensured == std::vector<std::string>(3, "org-1.v"));
}

TEST_CASE("B142 documents that are newer or cannot be compared are refused") {
    plan what;
    what.name_of = {.before = "org-", .tenant = true, .after = ""};
    test::shelf_store target;
    target.counts = {{"org-1", 3}, {"org-2", 1}, {"orb", 9}};
    target.versions = {{"org-1", {{1, 20, 0}, {1, 10, 0}, {1, 51, 7}}}, {"org-2", {{1, 30, 0}}}};
    int pages = 0;
    const auto look = [&](std::optional<version> now) {
        return store_checks(target, what, now, [&] { ++pages; });
    };
    auto report = look(version{1, 50, 0});
    CHECK(pages == 3);
    CHECK(report.newest == version{1, 51, 7});
    CHECK(
        text_of(report.checks, "store's documents") ==
        "refused: 4 documents are there already, with versions up to "
        "00000001.0000000000000033.00000007; this server is at 00000001.0000000000000032.00000000: "
        "they are of another history of the table, and its changes would lose against them. Empty "
        "the namespaces, or FORCE: then everything is written over them"
    );
    CHECK(passes(report.checks, true));
    CHECK_FALSE(passes(report.checks, false));
    // On a later timeline everything is newer.
    CHECK(passes(look(version{2, 0, 0}).checks, false));
    // The migration's own.
    CHECK(text_of(look(std::nullopt).checks, "store's documents") == "nothing");
    target.versions["org-2"] = {{0x80000000, 1, 0}};
    report = look(version{1, 50, 0});
    CHECK(
        text_of(report.checks, "store's documents").ends_with("can be given. Empty the namespaces")
    );
    CHECK_FALSE(passes(report.checks, true));
    target.versions["org-2"] = {};
    report = look(version{1, 60, 0});
    CHECK(
        text_of(report.checks, "store's documents") ==
        "refused: org-2 has documents that pgweir has not written: there is no telling whether a "
        "row "
        "is newer. Empty it, or use another namespace"
    );
    CHECK_FALSE(passes(report.checks, true));
}

TEST_SUITE_END();

}  // namespace weir::migration
