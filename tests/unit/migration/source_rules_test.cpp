// What a table must be like, with catalogs made by hand.
#include "migration/source.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

namespace weir::migration {

namespace {

source_column
column_of(const std::string& name, const std::string& type, std::uint32_t oid, bool not_null) {
    source_column made;
    made.name = name;
    made.type = type;
    made.base_oid = oid;
    made.base_name = type;
    made.not_null = not_null;
    return made;
}

source_table good_table() {
    source_table table;
    table.oid = 16400;
    table.columns = {
        column_of("id", "bigint", 20, true),
        column_of("org", "integer", 23, true),
        column_of("topic", "text", 25, false),
        column_of("embedding", "vector(3)", 90000, false)};
    table.columns[3].base_name = "vector";
    table.columns[3].extension = "vector";
    table.columns[3].modifier = 3;
    table.leaves = {{.name = "docs", .replica_identity = 'd', .identity = {"id"}}};
    table.unique_keys = {{"id"}};
    return table;
}

config::migration good_intent() {
    config::migration intent;
    intent.name = "groups";
    intent.user = "m";
    intent.table = "public.docs";
    intent.key = {"id"};
    intent.embedding = "embedding";
    intent.attributes = {"topic"};
    intent.name_pattern = "groups";
    return intent;
}

// All lines that are not ok, as "name verdict: text".
std::string faults(const built_plan& made) {
    std::string text;
    for (const auto& one : made.checks) {
        if (one.result != verdict::ok) {
            text += one.name + " " + std::string(to_string(one.result)) + ": " + one.text + "\n";
        }
    }
    return text;
}

using spoiling = void (*)(config::migration&, source_table&);

struct row {
    std::string_view name;
    spoiling spoil;
    std::string_view faults;
};

void check_row(const row& r) {
    CAPTURE(r.name);
    auto intent = good_intent();
    auto table = good_table();
    r.spoil(intent, table);
    const auto made = plan_for(intent, table);
    CHECK(faults(made) == r.faults);
    const auto refused = r.faults.find(" refused: ") != std::string_view::npos;
    CHECK(made.error.has_value() == refused);
    CHECK(passes(made.checks) == !refused);
}

}  // namespace

TEST_SUITE_BEGIN("migration.source_rules");

TEST_CASE("a table that can be followed becomes a plan") {
    auto intent = good_intent();
    intent.tenant = "org";
    intent.acknowledge = config::acknowledge::store;
    intent.acknowledge_timeout = std::chrono::milliseconds(7);
    intent.max_retained_wal = 99;
    const auto made = plan_for(intent, good_table());
    CHECK(faults(made) == "");
    CHECK_FALSE(made.error.has_value());
    const auto& plan = made.plan;
    CHECK(plan.name == "groups");
    CHECK(plan.schema == "public");
    CHECK(plan.table == "docs");
    CHECK(plan.table_oid == 16400);
    CHECK(plan.embedding == "embedding");
    CHECK(plan.layout.key == std::vector<column>{{"id", value_kind::integer, "bigint"}});
    CHECK(
        plan.layout.attributes ==
        std::vector<column>{
            {"topic", value_kind::text, "text"},
            {"org", value_kind::integer, "integer"}}
    );
    CHECK(plan.layout.dimensions == 3);
    CHECK_FALSE(plan.layout.half);
    CHECK(plan.tenant == 1);
    CHECK_FALSE(plan.tenant_in_key.has_value());
    CHECK(plan.name_of.before == "groups");
    CHECK_FALSE(plan.name_of.tenant);
    CHECK_FALSE(plan.partitioned);
    CHECK(plan.capture == capture_kind::wal);
    CHECK(plan.acknowledge == acknowledge_kind::store);
    CHECK(plan.acknowledge_timeout == std::chrono::milliseconds(7));
    CHECK(plan.max_retained_wal == 99);
}

TEST_CASE("halfvec and a tenant in the key") {
    auto intent = good_intent();
    auto table = good_table();
    intent.key = {"org", "id"};
    intent.tenant = "org";
    intent.name_pattern = "org-{org}.x";
    table.columns[3].base_name = "halfvec";
    table.unique_keys = {{"org", "id"}};
    table.leaves = {{.name = "docs", .replica_identity = 'd', .identity = {"org", "id"}}};
    const auto made = plan_for(intent, table);
    CHECK(faults(made) == "");
    CHECK(made.plan.layout.half);
    CHECK(made.plan.tenant == 1);
    CHECK(made.plan.tenant_in_key == 0);
    CHECK(made.plan.name_of.before == "org-");
    CHECK(made.plan.name_of.tenant);
    CHECK(made.plan.name_of.after == ".x");
}

TEST_CASE("tables whose changes cannot be followed") {
    const row rows[] = {
        {"view",
         [](auto&, auto& t) { t.kind = 'v'; },
         "table refused: public.docs is no table, so its changes are not in the WAL\n"},
        {"unlogged",
         [](auto&, auto& t) { t.persistence = 'u'; },
         "table refused: public.docs is unlogged or temporary, so its changes are not in the WAL: "
         "ALTER TABLE public.docs SET LOGGED\n"},
        {"inheritance",
         [](auto&, auto& t) { t.inherited = true; },
         "table refused: public.docs has tables that inherit from it and are no partitions, which "
         "are not followed: use declarative partitions, or a migration for each table\n"},
        {"no right to read",
         [](auto&, auto& t) { t.readable = false; },
         "table refused: the role may not read it: GRANT SELECT ON public.docs TO m\n"},
        {"row security",
         [](auto&, auto& t) { t.row_security = true; },
         "table refused: row security hides rows of it from the role, which the store would then "
         "lack: ALTER ROLE m BYPASSRLS, or use the table's owner\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_row);
}

TEST_CASE("B145 columns of a type or dimension that cannot be stored") {
    const row rows[] = {
        {"no such attribute",
         [](auto& i, auto&) { i.attributes = {"tropic"}; },
         "attributes refused: there is no column tropic in public.docs\n"},
        {"type",
         [](auto&, auto& t) {
             t.columns[2].base_oid = 17;
             t.columns[2].type = "bytea";
         },
         "attributes refused: topic is of type bytea, which is not supported; expected boolean, "
         "integers, real, double precision, numeric, text, varchar, char, uuid, timestamp, "
         "timestamptz, date, json, jsonb and enumerations\n"},
        {"enumeration",
         [](auto&, auto& t) {
             t.columns[2].base_oid = 90001;
             t.columns[2].base_kind = 'e';
         },
         ""},
        {"generated",
         [](auto&, auto& t) { t.columns[2].generated = true; },
         "attributes refused: topic is a generated column, which logical decoding does not send: "
         "leave it out, or fill an ordinary column by a trigger\n"},
        {"no embedding",
         [](auto& i, auto&) { i.embedding = "e"; },
         "embedding refused: there is no column e in public.docs\n"},
        {"embedding of another type",
         [](auto&, auto& t) { t.columns[3].base_name = "sparsevec"; },
         "embedding refused: embedding is of type vector(3); expected vector(n) or halfvec(n) of "
         "the extension vector\n"},
        {"a type of that name that is not pgvector's",
         [](auto&, auto& t) { t.columns[3].extension = ""; },
         "embedding refused: embedding is of type vector(3); expected vector(n) or halfvec(n) of "
         "the extension vector\n"},
        {"no dimension",
         [](auto&, auto& t) {
             t.columns[3].modifier = -1;
             t.columns[3].type = "vector";
         },
         "embedding refused: embedding is of type vector without a dimension, and rows may differ: "
         "ALTER TABLE public.docs ALTER COLUMN embedding TYPE vector(n)\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_row);
}

TEST_CASE("keys that do not name one row") {
    const row rows[] = {
        {"not unique",
         [](auto&, auto& t) {
             t.unique_keys = {{"id", "org"}};
         },
         "unique key refused: no unique index says that (id) names one row; two rows of one key "
         "would overwrite each other in the store\n"},
        {"nullable",
         [](auto&, auto& t) { t.columns[0].not_null = false; },
         "unique key refused: the key column id may be NULL: ALTER TABLE public.docs ALTER COLUMN "
         "id SET NOT NULL\n"},
        {"order of the index",
         [](auto& i, auto& t) {
             i.key = {"id", "org"};
             t.unique_keys = {{"org", "id"}};
             t.leaves[0].identity = {"org", "id"};
         },
         "unique key warning: no unique index begins with (id, org) in this order, so every page "
         "of the copy sorts the table: list the key's columns in an index's order\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_row);
}

TEST_CASE("replica identities that lack something") {
    const row rows[] = {
        {"none",
         [](auto&, auto& t) { t.leaves[0].replica_identity = 'n'; },
         "replica identity refused: docs has no replica identity: once it is published, the "
         "application's own UPDATEs and DELETEs would fail. CREATE UNIQUE INDEX docs_pgweir ON "
         "public.docs (id), ALTER TABLE public.docs REPLICA IDENTITY USING INDEX docs_pgweir\n"},
        {"no primary key",
         [](auto&, auto& t) { t.leaves[0].identity.clear(); },
         "replica identity refused: docs has no replica identity: once it is published, the "
         "application's own UPDATEs and DELETEs would fail. CREATE UNIQUE INDEX docs_pgweir ON "
         "public.docs (id), ALTER TABLE public.docs REPLICA IDENTITY USING INDEX docs_pgweir\n"},
        {"outbox needs none",
         [](auto& i, auto& t) {
             t.leaves[0].replica_identity = 'n';
             i.capture = config::capture::outbox;
         },
         ""},
        {"another index",
         [](auto&, auto& t) {
             t.leaves[0].replica_identity = 'i';
             t.leaves[0].identity = {"org"};
         },
         "replica identity refused: UPDATEs and DELETEs of docs carry (org) and not the whole key "
         "(id): make that the key, or CREATE UNIQUE INDEX docs_pgweir ON public.docs (id), ALTER "
         "TABLE public.docs REPLICA IDENTITY USING INDEX docs_pgweir\n"},
        {"full",
         [](auto&, auto& t) { t.leaves[0].replica_identity = 'f'; },
         "replica identity warning: FULL writes every old row to the WAL, embeddings too; enough "
         "is: CREATE UNIQUE INDEX docs_pgweir ON public.docs (id), ALTER TABLE public.docs REPLICA "
         "IDENTITY USING INDEX docs_pgweir\n"},
        {"one leaf of a partitioned table",
         [](auto&, auto& t) {
             t.kind = 'p';
             t.leaves.push_back({.name = "docs_2", .replica_identity = 'n', .identity = {}});
         },
         "replica identity refused: docs_2 has no replica identity: once it is published, the "
         "application's own UPDATEs and DELETEs would fail. CREATE UNIQUE INDEX docs_pgweir ON "
         "public.docs (id) and, for each leaf and its index, ALTER TABLE leaf REPLICA IDENTITY "
         "USING INDEX its_index\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_row);
}

TEST_CASE("tenants that name namespaces go with every delete") {
    const row rows[] = {
        {"not in the replica identity",
         [](auto& i, auto&) {
             i.tenant = "org";
             i.name_pattern = "org-{org}";
         },
         "tenant refused: DELETEs of docs do not carry the tenant org, which names the namespace: "
         "CREATE UNIQUE INDEX docs_pgweir ON public.docs (id, org), ALTER TABLE public.docs "
         "REPLICA IDENTITY USING INDEX docs_pgweir\n"},
        {"in the replica identity",
         [](auto& i, auto& t) {
             i.tenant = "org";
             i.name_pattern = "org-{org}";
             t.leaves[0] = {.name = "docs", .replica_identity = 'i', .identity = {"id", "org"}};
         },
         ""},
        {"nullable",
         [](auto& i, auto& t) {
             i.tenant = "org";
             i.name_pattern = "org-{org}";
             t.columns[1].not_null = false;
         },
         "tenant refused: the tenant org may be NULL, and such a row has no namespace: ALTER TABLE "
         "public.docs ALTER COLUMN org SET NOT NULL\n"},
        {"outbox",
         [](auto& i, auto&) {
             i.tenant = "org";
             i.name_pattern = "org-{org}";
             i.capture = config::capture::outbox;
         },
         ""},
        {"one namespace for all",
         [](auto& i, auto& t) {
             i.tenant = "org";
             t.columns[1].not_null = false;
         },
         ""},
    };
    std::for_each(std::begin(rows), std::end(rows), check_row);
}

TEST_CASE("the metric agrees with the indexes") {
    const row rows[] = {
        {"agrees",
         [](auto&, auto& t) {
             t.ann = {{"a", "halfvec_cosine_ops"}};
         },
         ""},
        {"another kind of index",
         [](auto&, auto& t) {
             t.ann = {{"a", "bit_hamming_ops"}};
         },
         ""},
        {"both",
         [](auto&, auto& t) {
             t.ann = {{"a", "vector_l2_ops"}, {"b", "vector_cosine_ops"}};
         },
         "metric warning: metric is cosine, and there are indexes for another: a (vector_l2_ops); "
         "searches that use those stay in Postgres\n"},
        {"inner product",
         [](auto&, auto& t) {
             t.ann = {{"a", "vector_ip_ops"}};
         },
         "metric warning: metric is cosine, and the indexes are for another: a (vector_ip_ops); "
         "the order is the same only if every embedding has length 1\n"},
        {"disagrees",
         [](auto&, auto& t) {
             t.ann = {{"a", "vector_l2_ops"}};
         },
         "metric refused: metric is cosine, and all indexes of embedding are for another: a "
         "(vector_l2_ops); set metric to that of the searches\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_row);
}

TEST_SUITE_END();

}  // namespace weir::migration
