#include "config/diff.hpp"
#include "config/print.hpp"
#include "tests/unit/config/yaml_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

namespace weir::config {

namespace {

// Two clusters' databases and two stores, then one migration of which `with` replaces or adds keys.
constexpr std::string_view before = R"(clusters: {main: {servers: [{host: a}], monitor: {user: m}}}
databases: {app: {cluster: main}}
stores:
  local: {type: chroma, url: "http://127.0.0.1:8000"}
  tpuf: {type: turbopuffer, url: "https://h", api_key: k}
migrations:
)";

constexpr std::string_view least =
    "database: app, user: m, table: public.t, key: [id], embedding: e, store: local, metric: "
    "cosine";

struct row {
    std::string_view name;
    std::string_view what;  // looked for in `least`; empty: nothing
    std::string_view with;  // put in its place, or behind
    std::string_view errors;
};

std::string file(std::string_view what, std::string_view with) {
    std::string keys(least);
    if (what.empty()) {
        keys += std::string(", ") + std::string(with);
    } else {
        keys.replace(keys.find(what), what.size(), with);
    }
    return std::string(before) + "  groups: {" + keys + "}\n";
}

void check(const row& r) {
    CAPTURE(r.name);
    CHECK(test::errors_of(file(r.what, r.with)) == r.errors);
}

}  // namespace

TEST_SUITE_BEGIN("config.migrations");

TEST_CASE("a migration with what it must have") {
    const auto loaded = load(file({}, "password: p"), "t.yaml", test::variables({}));
    REQUIRE(print_errors(loaded.errors) == "");
    REQUIRE(loaded.value->migrations.size() == 1);
    const auto& one = loaded.value->migrations.front();
    CHECK(one.name == "groups");
    CHECK(one.database == "app");
    CHECK(one.user == "m");
    CHECK(one.password == "p");
    CHECK(one.table == "public.t");
    CHECK(one.key == std::vector<std::string>{"id"});
    CHECK(one.embedding == "e");
    CHECK(one.attributes.empty());
    CHECK(one.tenant.empty());
    CHECK(one.store == "local");
    CHECK(one.name_pattern == "groups");
    CHECK(one.metric == metric::cosine);
    CHECK(one.capture == capture::wal);
    CHECK(one.acknowledge == acknowledge::async);
}

TEST_CASE("a migration with all it may have") {
    const auto loaded = load(
        std::string(before) + "  groups:\n    {" + std::string(least) +
            ",\n    attributes: [org, topic], tenant: org, namespace: \"org-{org}\", capture: wal, "
            "acknowledge: store,\n    acknowledge_timeout: 2s, max_retained_wal: 1GiB, batch: "
            "{rows: 7, bytes: 1MiB, delay: 5ms},\n    copy: {connections: 3, page: 9}}\n",
        "t.yaml",
        test::variables({})
    );
    REQUIRE(print_errors(loaded.errors) == "");
    const auto& one = loaded.value->migrations.front();
    CHECK(one.attributes == std::vector<std::string>{"org", "topic"});
    CHECK(one.tenant == "org");
    CHECK(one.name_pattern == "org-{org}");
    CHECK(one.acknowledge == acknowledge::store);
    CHECK(one.acknowledge_timeout == 2s);
    CHECK(one.max_retained_wal == 1ULL << 30);
    CHECK(one.batch.rows == 7);
    CHECK(one.batch.bytes == 1ULL << 20);
    CHECK(one.batch.delay == 5ms);
    CHECK(one.copy.connections == 3);
    CHECK(one.copy.page == 9);
}

TEST_CASE("names in a migration that lead nowhere") {
    constexpr row rows[] = {
        {"store",
         "store: local",
         "store: lokal",
         "t.yaml:7:85: migrations.groups.store names the unknown store 'lokal'; expected local or "
         "tpuf; did you mean 'local'?\n"},
        {"database",
         "database: app",
         "database: ap",
         "t.yaml:7:22: migrations.groups.database names the unknown database 'ap'; expected app; "
         "did you mean 'app'?\n"},
        {"any database",
         "database: app",
         "database: '*'",
         "t.yaml:7:22: migrations.groups.database is '*', which is no database; expected its "
         "name\n"},
        {"table without a schema",
         "table: public.t",
         "table: t",
         "t.yaml:7:43: migrations.groups.table is 't'; expected schema and table, such as "
         "public.documents\n"},
        {"no key columns",
         "key: [id]",
         "key: []",
         "t.yaml:7:58: migrations.groups.key is empty; expected at least one column\n"},
        {"key column twice",
         "key: [id]",
         "key: [id, id]",
         "t.yaml:7:58: migrations.groups.key names 'id' twice; expected each column once\n"},
        {"embedding in the key",
         "key: [id]",
         "key: [e]",
         "t.yaml:7:58: migrations.groups.key names 'e', which is the embedding; expected "
         "others\n"},
        {"attribute twice",
         "",
         "attributes: [a, b, a]",
         "t.yaml:7:120: migrations.groups.attributes names 'a' twice; expected each column once\n"},
        {"missing key",
         "embedding: e, ",
         "",
         "t.yaml:7:11: migrations.groups.embedding is missing; expected text\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check);
}

TEST_CASE("namespaces of a migration") {
    constexpr row rows[] = {
        {"pattern without a tenant",
         "",
         "namespace: 'org-{org}'",
         "t.yaml:7:119: migrations.groups.namespace names the column 'org', and there is no "
         "tenant; expected tenant: org\n"},
        {"pattern with another column",
         "",
         "tenant: org, namespace: 'org-{topic}'",
         "t.yaml:7:132: migrations.groups.namespace names the column 'topic'; expected the tenant, "
         "{org}\n"},
        {"two columns",
         "",
         "tenant: org, namespace: '{org}{org}'",
         "t.yaml:7:132: migrations.groups.namespace is '{org}{org}'; expected letters, digits, "
         "'-', '_' and '.', with {org} at most once\n"},
        {"tenant in a fixed namespace", "", "tenant: org, namespace: all", ""},
    };
    std::for_each(std::begin(rows), std::end(rows), check);
    const auto first = std::string(before) + "  a: {" + std::string(least) +
                       ", tenant: t, namespace: \"org-{t}\"}\n  b: {" + std::string(least);
    CHECK(
        test::errors_of(first + ", namespace: org-5}\n") ==
        "t.yaml:8:114: migrations.b.namespace 'org-5' may be the same as that of migrations.a, "
        "'org-{t}', in the same store; expected names that cannot meet\n"
    );
    CHECK(test::errors_of(first + ", namespace: user-5}\n") == "");
}

TEST_CASE("what a migration cannot have together") {
    constexpr row rows[] = {
        {"outbox and waiting for the store",
         "",
         "capture: outbox, acknowledge: store",
         "t.yaml:7:138: migrations.groups.acknowledge store cannot be had with capture: outbox, "
         "whose order agrees with the commits' for one key only; expected async\n"},
        {"inner product in turbopuffer",
         "store: local, metric: cosine",
         "store: tpuf, metric: inner_product",
         "t.yaml:7:99: migrations.groups.metric is inner_product, which turbopuffer does not "
         "have; expected cosine or l2\n"},
        {"too little WAL",
         "",
         "max_retained_wal: 1MiB",
         "t.yaml:7:126: migrations.groups.max_retained_wal is too small to work with; expected 0 "
         "or at least 64MiB\n"},
        {"no limit for WAL", "", "max_retained_wal: 0", ""},
        {"shadow reads",
         "",
         "shadow: {sample: 10%}",
         "t.yaml:7:108: migrations.groups.shadow is not available in this version\n"},
        {"rank",
         "",
         "rank: exact",
         "t.yaml:7:108: migrations.groups.rank is not available in this version\n"},
        {"gates",
         "",
         "gates: {lag: 5s}",
         "t.yaml:7:108: migrations.groups.gates is not available in this version\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check);
}

TEST_CASE("a migration's name is part of a slot's") {
    const auto named = [](std::string_view name) {
        return std::string(before) + "  " + std::string(name) + ": {" + std::string(least) + "}\n";
    };
    CHECK(test::errors_of(named("a_1")) == "");
    for (const std::string_view name :
         {"Groups", "a-b", "a23456789012345678901234567890123456789012345678901"}) {
        CAPTURE(name);
        CHECK(
            test::errors_of(named(name)) ==
            "t.yaml:7:3: migrations." + std::string(name) +
                " is no name for a migration, since its slot bears it too; expected at most 50 of "
                "a to z, 0 to 9 and _\n"
        );
    }
}

TEST_CASE("changes of migrations wait for a restart") {
    const auto one = *load(file({}, "password: p"), "t.yaml", test::variables({})).value;
    auto other = one;
    other.migrations[0].password = "hunter2";
    other.migrations[0].batch.rows = 2;
    other.stores.pop_back();
    std::string text;
    for (const auto& d : differences(one, other)) {
        text += to_string(d) + "\n";
    }
    CHECK(
        text ==
        "stores.tpuf: removed (needs a restart)\n"
        "migrations.groups.password: changed (needs a restart)\n"
        "migrations.groups.batch.rows: 500 -> 2 (needs a restart)\n"
    );
}

TEST_SUITE_END();

}  // namespace weir::config
