#include "migration/source.hpp"

#include "tests/migration/source_tools.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weir::migration {

namespace {

// Tables of a schema of their own, made by the database's owner.
struct workshop {
    workshop() {
        run("DROP SCHEMA IF EXISTS plans CASCADE; CREATE SCHEMA plans AUTHORIZATION app; GRANT "
            "USAGE ON SCHEMA plans TO app2");
        REQUIRE_FALSE(session.connect(test::primary_address()).has_value());
    }

    ~workshop() { run("DROP SCHEMA IF EXISTS plans CASCADE"); }

    workshop(const workshop&) = delete;
    workshop& operator=(const workshop&) = delete;

    static void run(const std::string& sql) {
        auto root = test::superuser();
        root.query(sql);
    }

    void make(const std::string& sql) {
        const auto answer =
            session.run("SET search_path = plans, public; " + sql + "; RESET search_path");
        const auto text = answer ? std::string() : answer.error->text;
        REQUIRE(text == "");
    }

    [[nodiscard]] built_plan plan_of(const config::migration& intent) {
        return build_plan(session, intent);
    }

    sql_session session;
};

config::migration intent_for(const std::string& table) {
    config::migration intent;
    intent.name = "groups";
    intent.user = "app";
    intent.table = "plans." + table;
    intent.key = {"id"};
    intent.embedding = "e";
    intent.name_pattern = "groups";
    return intent;
}

std::string found_under(const built_plan& made, const std::string& name) {
    for (const auto& one : made.checks) {
        if (one.name == name) {
            return std::string(to_string(one.result)) + ": " + one.text;
        }
    }
    return "nothing";
}

}  // namespace

TEST_SUITE_BEGIN("migration.source");

TEST_CASE("a statement that takes longer than its limit is given up") {
    sql_session session;
    REQUIRE_FALSE(session.connect(test::primary_address()).has_value());
    session.limit(std::chrono::milliseconds(100));
    const std::vector<std::optional<std::string>> one{"1"};
    CHECK(session.run("SELECT 7; SELECT 8").rows.at(0, 0) == "8");
    CHECK(session.run("SELECT $1::int + 1", one).rows.at(0, 0) == "2");
    CHECK(session.run("SELECT 1 / 0").error->sqlstate == "22012");
    CHECK(session.connected());
    const auto late = session.run("SELECT pg_sleep(600)");
    REQUIRE(late.error.has_value());
    CHECK(late.error->sqlstate == "");
    CHECK(late.error->text.ends_with(": no answer in time"));
    CHECK_FALSE(session.connected());
    REQUIRE_FALSE(session.connect(test::primary_address()).has_value());
    CHECK(session.run("SELECT pg_sleep($1::int * 600)", one).error.has_value());
    CHECK_FALSE(session.connected());
}

TEST_CASE("every supported type is found in the catalog") {
    workshop shop;
    shop.make(
        "CREATE TYPE mood AS ENUM ('good', 'bad'); CREATE DOMAIN short AS varchar(5); CREATE "
        "DOMAIN shorter AS short NOT NULL; CREATE DOMAIN embedding AS halfvec(4);"
        "CREATE TABLE \"Every.Type\" (id uuid PRIMARY KEY, b boolean, i2 smallint, i4 integer, "
        "i8 bigint, f4 real, f8 double precision, n numeric(9, 2), t text, v varchar(20), c "
        "char(3), na name, ts timestamp, tz timestamptz, d date, j json, jb jsonb, m mood, s "
        "shorter, \"Odd\" integer, e embedding)"
    );
    auto intent = intent_for("Every.Type");
    intent.attributes = {
        "b",
        "i2",
        "i4",
        "i8",
        "f4",
        "f8",
        "n",
        "t",
        "v",
        "c",
        "na",
        "ts",
        "tz",
        "d",
        "j",
        "jb",
        "m",
        "s",
        "Odd"};
    const auto made = shop.plan_of(intent);
    REQUIRE_FALSE(made.error.has_value());
    std::string kinds;
    for (const auto& one : made.plan.layout.attributes) {
        kinds += std::to_string(static_cast<int>(one.kind));
    }
    // boolean, 3 × integer, 2 × real, numeric, 4 × text, 2 × timestamp, date, 2 × json, then the
    // enumeration, the domain and an integer
    CHECK(kinds == "0111223444466788441");
    CHECK(made.plan.layout.key == std::vector<column>{{"id", value_kind::uuid, "uuid"}});
    CHECK(made.plan.layout.attributes[6].type == "numeric(9,2)");
    CHECK(made.plan.layout.attributes[8].type == "character varying(20)");
    CHECK(made.plan.layout.dimensions == 4);
    CHECK(made.plan.layout.half);
    CHECK(made.plan.schema == "plans");
    CHECK(made.plan.table == "Every.Type");
    CHECK(
        std::to_string(made.plan.table_oid) ==
        test::superuser().value("SELECT 'plans.\"Every.Type\"'::regclass::oid")
    );
}

TEST_CASE("types that are not supported are named") {
    workshop shop;
    shop.make(
        "CREATE TABLE t (id int PRIMARY KEY, a int[], g int GENERATED ALWAYS AS (id + 1) "
        "STORED, e sparsevec(3))"
    );
    auto intent = intent_for("t");
    intent.attributes = {"a", "g"};
    const auto made = shop.plan_of(intent);
    REQUIRE(made.error.has_value());
    CHECK(found_under(made, "attributes").starts_with("refused: a is of type integer[], which"));
    CHECK(made.error->find("g is a generated column") != std::string::npos);
    CHECK(
        found_under(made, "embedding") ==
        "refused: e is of type sparsevec(3); expected vector(n) or halfvec(n) of the extension "
        "vector"
    );
    CHECK(
        *shop.plan_of(intent_for("nothing")).error ==
        "there is no table plans.nothing; it is written as in the catalog, without quotes"
    );
}

TEST_CASE("a vector without a dimension is refused also under a domain") {
    workshop shop;
    shop.make(
        "CREATE DOMAIN any_vector AS vector; CREATE TABLE t (id int PRIMARY KEY, e "
        "any_vector)"
    );
    CHECK(
        found_under(shop.plan_of(intent_for("t")), "embedding") ==
        "refused: e is of type plans.any_vector without a dimension, and rows may differ: ALTER "
        "TABLE "
        "plans.t ALTER COLUMN e TYPE vector(n)"
    );
}

TEST_CASE("replica identities are read as the server uses them") {
    struct row {
        std::string_view name;
        std::string sql;
        std::string_view found;  // the beginning
    };

    const row rows[] = {
        {"primary key",
         "CREATE TABLE t (id int PRIMARY KEY, org int NOT NULL, e vector(3))",
         "ok: carries (id)"},
        {"a key that can be deferred is none",
         "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE, e vector(3)); CREATE UNIQUE INDEX ON t "
         "(id)",
         "refused: plans.t has no replica identity"},
        {"nothing",
         "CREATE TABLE t (id int PRIMARY KEY, e vector(3)); ALTER TABLE t REPLICA IDENTITY NOTHING",
         "refused: plans.t has no replica identity"},
        {"index with included columns",
         "CREATE TABLE t (id int PRIMARY KEY, org int NOT NULL, e vector(3)); CREATE UNIQUE INDEX "
         "u ON t (org) INCLUDE (id); ALTER TABLE t REPLICA IDENTITY USING INDEX u",
         "refused: UPDATEs and DELETEs of plans.t carry (org) and not the whole key (id)"},
        {"full",
         "CREATE TABLE t (id int PRIMARY KEY, e vector(3)); ALTER TABLE t REPLICA IDENTITY FULL",
         "warning: FULL writes every old row"},
        {"a leaf",
         "CREATE TABLE t (id int PRIMARY KEY, e vector(3)) PARTITION BY RANGE (id); CREATE TABLE "
         "t1 PARTITION OF t FOR VALUES FROM (0) TO (10); CREATE TABLE t2 PARTITION OF t FOR VALUES "
         "FROM (10) TO (20) PARTITION BY RANGE (id); CREATE TABLE t21 PARTITION OF t2 FOR VALUES "
         "FROM (10) TO (20); ALTER TABLE t21 REPLICA IDENTITY NOTHING",
         "refused: plans.t21 has no replica identity"},
    };
    for (const auto& r : rows) {
        CAPTURE(r.name);
        workshop shop;
        shop.make(r.sql);
        const auto found = found_under(shop.plan_of(intent_for("t")), "replica identity");
        CHECK(found.substr(0, r.found.size()) == r.found);
    }
}

TEST_CASE("the advice for a tenant's replica identity does what it says") {
    workshop shop;
    shop.make("CREATE TABLE t (id int PRIMARY KEY, org int NOT NULL, e vector(3))");
    auto intent = intent_for("t");
    intent.tenant = "org";
    intent.name_pattern = "org-{org}";
    CHECK(
        found_under(shop.plan_of(intent), "tenant") ==
        "refused: DELETEs of plans.t do not carry the tenant org, which names the namespace: "
        "CREATE UNIQUE INDEX t_pgweir ON plans.t (id, org), ALTER TABLE plans.t REPLICA IDENTITY "
        "USING INDEX t_pgweir"
    );
    shop.make(
        "CREATE UNIQUE INDEX t_pgweir ON plans.t (id, org); ALTER TABLE plans.t REPLICA "
        "IDENTITY USING INDEX t_pgweir"
    );
    const auto made = shop.plan_of(intent);
    CHECK_FALSE(made.error.has_value());
    CHECK(found_under(made, "tenant") == "ok: org, each in a namespace of its own");
    CHECK(made.plan.tenant == 0);
}

TEST_CASE("partitioned tables and indexes of their leaves") {
    workshop shop;
    shop.make(
        "CREATE TABLE t (org int, id int, e vector(3), PRIMARY KEY (org, id)) PARTITION BY "
        "LIST (org); CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1); CREATE TABLE t2 "
        "PARTITION OF t FOR VALUES IN (2); CREATE INDEX a1 ON t1 USING hnsw ((e::halfvec(3)) "
        "halfvec_l2_ops)"
    );
    auto intent = intent_for("t");
    intent.key = {"org", "id"};
    intent.tenant = "org";
    intent.name_pattern = "org-{org}";
    intent.metric = config::metric::l2;
    const auto made = shop.plan_of(intent);
    REQUIRE_FALSE(made.error.has_value());
    CHECK(made.plan.partitioned);
    CHECK(made.plan.tenant_in_key == 0);
    CHECK(found_under(made, "table") == "ok: plans.t, 2 leaf partitions");
    CHECK(found_under(made, "metric") == "ok: l2");
    intent.metric = config::metric::cosine;
    CHECK(
        found_under(shop.plan_of(intent), "metric") ==
        "refused: metric is cosine, and all indexes of e are for another: plans.a1 "
        "(halfvec_l2_ops); set metric to that of the searches"
    );
    shop.make("CREATE INDEX a2 ON t2 USING hnsw (e vector_cosine_ops)");
    CHECK(
        found_under(shop.plan_of(intent), "metric") ==
        "warning: metric is cosine, and there are indexes for another: plans.a1 (halfvec_l2_ops); "
        "searches that use those stay in Postgres"
    );
}

TEST_CASE("tables that are none of their kind or hide rows") {
    workshop shop;
    shop.make(
        "CREATE UNLOGGED TABLE u (id int PRIMARY KEY, e vector(3)); CREATE VIEW v AS SELECT "
        "* FROM u; CREATE TABLE p (id int PRIMARY KEY, e vector(3)); CREATE TABLE c () "
        "INHERITS (p); CREATE TABLE s (id int PRIMARY KEY, e vector(3)); ALTER TABLE s "
        "ENABLE ROW LEVEL SECURITY; GRANT SELECT ON s TO app2; CREATE TABLE x (id int "
        "PRIMARY KEY, e vector(3))"
    );
    const auto of = [&](const std::string& table) {
        return found_under(shop.plan_of(intent_for(table)), "table").substr(0, 50);
    };
    CHECK(of("u") == "refused: plans.u is unlogged or temporary, so its ");
    CHECK(of("v") == "refused: plans.v is no table, so its changes are n");
    CHECK(of("p") == "refused: plans.p has tables that inherit from it a");
    CHECK(of("s") == "ok: plans.s");
    REQUIRE_FALSE(shop.session.connect(test::primary_address("app2")).has_value());
    CHECK(of("s") == "refused: row security hides rows of it from the ro");
    CHECK(of("x") == "refused: the role may not read it: GRANT SELECT ON");
}

TEST_SUITE_END();

}  // namespace weir::migration
