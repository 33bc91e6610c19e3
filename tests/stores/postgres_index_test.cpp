// PostgreSQL as a store: its extension and its indexes.
#include "migration/store/postgres.hpp"
#include "migration/store/postgres_names.hpp"
#include "migration/store/postgres_table.hpp"
#include "tests/stores/contract.hpp"
#include "tests/stores/postgres_server.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>

namespace weir::stores {
namespace {

std::unique_ptr<store::store> open(const store::layout& rows = table()) {
    return store::make_postgres(address_of(shared_postgres()), rows);
}

std::vector<document> rows_from(std::int64_t first, std::size_t count) {
    std::vector<document> rows;
    for (std::size_t i = 0; i < count; ++i) {
        rows.push_back(row(first + static_cast<std::int64_t>(i), at(10)));
    }
    return rows;
}

TEST_CASE("PostgreSQL: the extension is made, or found in a schema of its own") {
    for (const std::string schema : {"", "elsewhere"}) {
        const auto database = "stores_" + std::to_string(getpid()) + schema;
        query_postgres("CREATE DATABASE " + database + " TEMPLATE template0");
        if (!schema.empty()) {
            query_postgres(
                "CREATE SCHEMA elsewhere; CREATE EXTENSION vector SCHEMA elsewhere",
                database
            );
        }
        {
            auto where = address_of(shared_postgres(), "postgres");
            where.database = database;
            const auto at_store = store::make_postgres(where, table());
            const auto name = fresh("extension");
            must(at_store->ensure(name));
            must(at_store->upsert(name, rows_from(1, 3)));
            const auto wanted = embedding_of(2);
            const auto hits =
                must(at_store->search(name, {.embedding = wanted, .limit = 1, .filter = {}}));
            REQUIRE(hits.size() == 1);
            CHECK(hits[0].key == key_of(2));
            must(at_store->index(name));
        }
        query_postgres("DROP DATABASE " + database + " WITH (FORCE)");
    }
}

std::string indexes_of(const std::string& name) {
    return query_postgres(
        "SELECT pg_get_indexdef(indexrelid), indisvalid FROM pg_index WHERE indrelid = '" +
        store::table_of(name) + "'::regclass AND NOT indisprimary"
    );
}

TEST_CASE("PostgreSQL: an index is built once and made anew if it was left half done") {
    const auto name = fresh("index");
    const auto at_store = open(table(4, store::metric::cosine));
    must(at_store->ensure(name));
    must(at_store->upsert(name, rows_from(0, 300)));
    CHECK(indexes_of(name).empty());
    must(at_store->index(name));
    const auto made = indexes_of(name);
    CHECK(made.find("USING hnsw (embedding vector_cosine_ops)|t\n") != std::string::npos);
    must(at_store->index(name));
    CHECK(indexes_of(name) == made);
    query_postgres(
        "UPDATE pg_index SET indisvalid = false WHERE indrelid = '" + store::table_of(name) +
        "'::regclass AND NOT indisprimary"
    );
    must(at_store->index(name));
    CHECK(indexes_of(name) == made);
    CHECK(fault_of(at_store->index(fresh("index"))) == fault::missing);
}

// The plan of a search where only what can use an index may do without reading the table.
std::string plan_of(const store::layout& rows, const std::string& name, const store::query& what) {
    auto text = store::postgres_table(rows).search(store::table_of(name), what);
    std::string vector = "'[";
    for (const auto each : what.embedding) {
        vector += (vector.size() == 2 ? "" : ",") + std::to_string(each);
    }
    for (auto place = text.find("$1"); place != std::string::npos; place = text.find("$1")) {
        text.replace(place, 2, vector + "]'");
    }
    return query_postgres("SET enable_seqscan = off; EXPLAIN (COSTS OFF) " + text);
}

TEST_CASE("PostgreSQL: an exact search does without the index") {
    for (const std::size_t dimensions : {8U, 2500U}) {
        CAPTURE(dimensions);
        auto layout = table(dimensions, store::metric::l2);
        const auto name = fresh("exact");
        const auto at_store = open(layout);
        must(at_store->ensure(name));
        std::vector<document> rows;
        for (std::int64_t id = 0; id < 400; ++id) {
            rows.push_back(row(id, at(10), dimensions));
        }
        must(at_store->upsert(name, rows));
        must(at_store->index(name));
        const auto wanted = embedding_of(1000, dimensions);
        store::query what{.embedding = wanted, .limit = 10, .filter = {}};
        what.exact = true;
        const auto exact = must(at_store->search(name, what));
        CHECK(plan_of(layout, name, what).find("Index Scan") == std::string::npos);
        what.exact = false;
        const auto quick = must(at_store->search(name, what));
        CHECK(plan_of(layout, name, what).find("Index Scan") != std::string::npos);
        REQUIRE(exact.size() == 10);
        REQUIRE(quick.size() == 10);
        std::set<std::int64_t> both;
        for (const auto& hits : {exact, quick}) {
            for (const auto& each : hits) {
                both.insert(std::get<std::int64_t>(each.key[0]));
            }
        }
        CHECK(both.size() <= 13);  // 400 rows: HNSW finds nearly all
        CHECK(std::ranges::is_sorted(exact, {}, &store::hit::distance));
    }
}

}  // namespace
}  // namespace weir::stores
