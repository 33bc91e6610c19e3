#include "migration/publication.hpp"

#include "migration/slot.hpp"
#include "migration/source.hpp"
#include "tests/migration/source_tools.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weir::migration {

namespace {

// A table with partitions, its plan, and nothing of it left afterwards.
struct published {
    published() {
        clean();
        root.query("CREATE SCHEMA plans AUTHORIZATION app");
        root.query(
            "SET ROLE app; SET search_path = plans, public; CREATE TABLE t (id int PRIMARY "
            "KEY, e vector(3)) PARTITION BY RANGE (id); CREATE TABLE \"T1\" PARTITION OF t "
            "FOR VALUES FROM (0) TO (10); CREATE TABLE other (id int PRIMARY KEY); RESET "
            "ROLE; RESET search_path"
        );
        REQUIRE_FALSE(session.connect(test::primary_address()).has_value());
        config::migration intent;
        intent.name = "pub_test";
        intent.user = "app";
        intent.table = "plans.t";
        intent.key = {"id"};
        intent.embedding = "e";
        intent.name_pattern = "pub";
        auto made = build_plan(session, intent);
        REQUIRE_FALSE(made.error.has_value());
        plan = std::move(made.plan);
    }

    ~published() { clean(); }

    published(const published&) = delete;
    published& operator=(const published&) = delete;

    void clean() {
        root.try_query("DROP PUBLICATION IF EXISTS pgweir_pub_test");
        root.try_query(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE "
            "slot_name = 'pgweir_pub_test'"
        );
        root.query("DROP SCHEMA IF EXISTS plans CASCADE");
    }

    void query(const std::string& sql) { root.query(sql); }

    integration::pq_connection root = test::superuser();
    sql_session session;
    migration::plan plan;
};

std::string names(const std::vector<leaf>& leaves) {
    std::string text;
    for (const auto& one : leaves) {
        text += one.name + " ";
    }
    return text;
}

}  // namespace

TEST_SUITE_BEGIN("migration.publication");

TEST_CASE("a publication is made once and fits then") {
    published here;
    CHECK(find_publication(here.session, here.plan).state == publication_state::absent);
    CHECK_FALSE(ensure_publication(here.session, here.plan).has_value());
    CHECK(find_publication(here.session, here.plan).state == publication_state::fits);
    CHECK_FALSE(ensure_publication(here.session, here.plan).has_value());
    // Leaves are published as themselves, also those that come later.
    here.query("CREATE TABLE plans.t2 PARTITION OF plans.t FOR VALUES FROM (10) TO (20)");
    CHECK(
        here.root.value("SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM "
                        "pg_publication_tables WHERE pubname = 'pgweir_pub_test'") == "T1 t2"
    );
    CHECK_FALSE(drop_publication(here.session, "pgweir_pub_test").has_value());
    CHECK(find_publication(here.session, here.plan).state == publication_state::absent);
    CHECK_FALSE(drop_publication(here.session, "pgweir_pub_test").has_value());
}

TEST_CASE("publications that do not fit are refused and left alone") {
    struct row {
        std::string_view what;
        std::string_view difference;
    };

    const row rows[] = {
        {"FOR ALL TABLES", "it is for all tables"},
        {"FOR TABLE plans.other", "it does not hold all rows and columns of the table"},
        {"FOR TABLE plans.t, plans.other", "it holds other tables too"},
        {"FOR TABLE plans.t WHERE (id > 5) WITH (publish_via_partition_root = true)",
         "it does not hold all rows and columns of the table"},
        {"FOR TABLE plans.t (id) WITH (publish_via_partition_root = true)",
         "it does not hold all rows and columns of the table"},
        {"FOR TABLE plans.t WITH (publish = 'insert, update, delete')",
         "it does not publish insert, update, delete and truncate"},
        {"FOR TABLE plans.t WITH (publish_via_partition_root = true)",
         "publish_via_partition_root is on"},
    };
    published here;
    for (const auto& r : rows) {
        CAPTURE(r.what);
        here.query("DROP PUBLICATION IF EXISTS pgweir_pub_test");
        here.query("CREATE PUBLICATION pgweir_pub_test " + std::string(r.what));
        const auto found = find_publication(here.session, here.plan);
        CHECK(found.state == publication_state::other);
        CHECK(found.difference == r.difference);
        const auto refused = ensure_publication(here.session, here.plan);
        REQUIRE(refused.has_value());
        CHECK(refused->text.ends_with(
            ": publication pgweir_pub_test is there already and does not fit: " +
            std::string(r.difference)
        ));
        // It is the superuser's: whoever made it drops it.
        CHECK_FALSE(drop_publication(here.session, "pgweir_pub_test").has_value());
        CHECK(find_publication(here.session, here.plan).state == publication_state::other);
    }
}

TEST_CASE("partitions that come and go are found") {
    published here;
    const auto first = leaves_of(here.session, here.plan.table_oid);
    REQUIRE_FALSE(first.error.has_value());
    CHECK(names(first.leaves) == "plans.\"T1\" ");
    std::vector<std::uint32_t> handled{first.leaves.at(0).oid};
    here.query(
        "CREATE TABLE plans.t2 PARTITION OF plans.t FOR VALUES FROM (10) TO (20) PARTITION "
        "BY RANGE (id); CREATE TABLE plans.t21 PARTITION OF plans.t2 FOR VALUES FROM (10) "
        "TO (15); CREATE TABLE plans.t3 (id int PRIMARY KEY, e vector(3)); ALTER TABLE "
        "plans.t ATTACH PARTITION plans.t3 FOR VALUES FROM (20) TO (30)"
    );
    auto changes = changes_of(handled, leaves_of(here.session, here.plan.table_oid).leaves);
    CHECK(names(changes.added) == "plans.t21 plans.t3 ");
    CHECK(changes.removed.empty());
    for (const auto& one : changes.added) {
        handled.push_back(one.oid);
    }
    CHECK(
        changes_of(handled, leaves_of(here.session, here.plan.table_oid).leaves) == leaf_changes{}
    );
    here.query("ALTER TABLE plans.t DETACH PARTITION plans.\"T1\"; DROP TABLE plans.t2");
    changes = changes_of(handled, leaves_of(here.session, here.plan.table_oid).leaves);
    CHECK(changes.added.empty());
    CHECK(changes.removed == std::vector<std::uint32_t>{handled.at(0), handled.at(1)});
    // A table without partitions is its own leaf.
    const auto alone = leaves_of(here.session, handled.at(0));
    CHECK(names(alone.leaves) == "plans.\"T1\" ");
}

TEST_CASE("a slot tells what it holds back") {
    published here;
    CHECK_FALSE(read_slot(here.session, "pgweir_pub_test").slot.has_value());
    here.query("SELECT pg_create_logical_replication_slot('pgweir_pub_test', 'pgoutput')");
    const auto fresh = read_slot(here.session, "pgweir_pub_test");
    REQUIRE_FALSE(fresh.error.has_value());
    REQUIRE(fresh.slot.has_value());
    CHECK(fresh.slot->plugin == "pgoutput");
    CHECK(fresh.slot->database == "app");
    CHECK(fresh.slot->active_pid == 0);
    CHECK(fresh.slot->wal_status == "reserved");
    CHECK(fresh.slot->invalidation_reason == "");
    CHECK(fresh.slot->restart_lsn > 0);
    CHECK(fresh.slot->confirmed_flush >= fresh.slot->restart_lsn);
    CHECK(fresh.retained == fresh.insert_lsn - fresh.slot->restart_lsn);
    here.query(
        "INSERT INTO plans.t SELECT i, '[1,2,3]' FROM generate_series(1, 9) AS i; SELECT "
        "pg_logical_emit_message(false, 'x', repeat('x', 100000))"
    );
    CHECK(read_slot(here.session, "pgweir_pub_test").retained > fresh.retained + 100'000);
    // Dropping needs REPLICATION, which the owner of the table does not have.
    const auto refused = drop_slot(here.session, "pgweir_pub_test");
    REQUIRE(refused.has_value());
    CHECK(refused->sqlstate == "42501");
    sql_session able;
    REQUIRE_FALSE(able.connect(test::primary_address("pgweir")).has_value());
    CHECK_FALSE(drop_slot(able, "pgweir_pub_test").has_value());
    CHECK_FALSE(drop_slot(able, "pgweir_pub_test").has_value());
    CHECK_FALSE(read_slot(here.session, "pgweir_pub_test").slot.has_value());
}

TEST_SUITE_END();

}  // namespace weir::migration
