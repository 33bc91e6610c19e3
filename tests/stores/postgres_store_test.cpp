// What is particular about PostgreSQL as a store, against a real one.
#include "migration/store/postgres.hpp"
#include "migration/store/postgres_names.hpp"
#include "migration/store/postgres_session.hpp"
#include "tests/stores/contract.hpp"
#include "tests/stores/postgres_server.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <string>
#include <thread>

namespace weir::stores {
namespace {

using std::chrono::milliseconds;

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

store::layout typed() {
    auto layout = table();
    layout.key = {
        {"org", value_kind::integer, "integer"},
        {"code", value_kind::text, "character(5)"}};
    layout.attributes = {
        {"org", value_kind::integer, "integer"},  // the tenant, which is in the key
        {"small", value_kind::integer, "smallint"},
        {"name", value_kind::text, "character varying(20)"},
        {"mood", value_kind::text, "mood"},
        {"size", value_kind::integer, "size_domain"},
        {"price", value_kind::numeric, "numeric(10,2)"},
        {"ratio", value_kind::real, "real"},
        {"seen", value_kind::timestamp, "timestamp(3) without time zone"},
        {"day", value_kind::date, "date"},
        {"plain", value_kind::json, "json"},
        {"doc", value_kind::json, "jsonb"},
        {"embedding", value_kind::text, "text"}};
    return layout;
}

TEST_CASE("PostgreSQL: the table has the source's columns and built-in types") {
    const auto name = fresh("types");
    must(open(typed())->ensure(name));
    CHECK(
        query_postgres(
            "SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute "
            "WHERE attrelid = 'pgweir_store." +
            migration::quoted_name(name) + "'::regclass AND attnum > 0 ORDER BY attnum"
        ) ==
        "org|integer|t\ncode|character(5)|t\nsmall|smallint|f\nname|character varying(20)|f\n"
        "mood|text|f\nsize|bigint|f\nprice|numeric(10,2)|f\nratio|real|f\n"
        "seen|timestamp(3) without time zone|f\nday|date|f\nplain|json|f\ndoc|jsonb|f\n"
        "embedding|text|f\n_pgweir_embedding|vector(4)|t\n_pgweir_version|text|t\n"
        "_pgweir_part|oid|t\n"
    );
}

TEST_CASE("PostgreSQL: values of narrow types come back as the source has them") {
    const auto name = fresh("narrow");
    const auto at_store = open(typed());
    must(at_store->ensure(name));
    document written = row(1, at(10));
    written.key = {std::int64_t{17}, "ab   "};
    written.attributes = {
        std::int64_t{17},
        std::int64_t{-32768},
        "twenty characters ok",
        "happy",
        std::int64_t{5},
        "12.50",
        static_cast<double>(0.1F),
        std::int64_t{1'796'000'000'123'000},
        std::int64_t{-86'400'000'000},
        R"({"b": 1,  "a":2})",
        R"({"a": 2, "b": 1})",
        "a text"};
    must(at_store->upsert(name, std::vector{written}));
    check_same(written, one(*at_store, name, written.key), at_store->able());
    auto patch = written;
    patch.embedding.clear();
    patch.version = at(11);
    patch.attributes[4] = value{};
    CHECK(must(at_store->patch(name, std::vector{patch})).applied == 1);
    const auto page = must(at_store->scan(name, "", 10, {.attributes = true}));
    REQUIRE(page.documents.size() == 1);
    CHECK(page.documents[0].attributes == patch.attributes);
    const auto at_key = query_postgres(
        "SELECT org, mood, price, _pgweir_version FROM pgweir_store." + migration::quoted_name(name)
    );
    CHECK(at_key == "17|happy|12.50|" + to_text(at(11)) + "\n");
    must(at_store->remove(name, std::vector<removal>{{written.key, at(12)}}));
    CHECK(must(at_store->count(name)) == 0);
}

TEST_CASE("PostgreSQL: what a column cannot hold is refused and nothing is written") {
    const auto name = fresh("refused");
    auto layout = table();
    layout.attributes = {{"name", value_kind::text, "character varying(3)"}};
    const auto at_store = open(layout);
    must(at_store->ensure(name));
    auto rows = rows_from(1, 3);
    for (auto& each : rows) {
        each.attributes = {"abc"};
    }
    rows[1].attributes = {"abcd"};
    CHECK(fault_of(at_store->upsert(name, rows)) == fault::refused);
    rows[1].attributes = {"abc"};
    rows[2].embedding[0] = std::numeric_limits<float>::quiet_NaN();
    CHECK(fault_of(at_store->upsert(name, rows)) == fault::refused);
    rows[2].embedding = {1, 2, 3};
    CHECK(fault_of(at_store->upsert(name, rows)) == fault::refused);
    CHECK(must(at_store->count(name)) == 0);
}

TEST_CASE("PostgreSQL: long names do not meet") {
    const auto first = fresh("long") + std::string(80, 'x') + "1";
    auto second = first;
    second.back() = '2';
    const auto at_store = open();
    for (const auto& name : {first, second}) {
        must(at_store->ensure(name));
        must(at_store->ensure(name));
        must(at_store->upsert(name, rows_from(0, name == first ? 1 : 2)));
    }
    CHECK(must(at_store->count(first)) == 1);
    CHECK(must(at_store->count(second)) == 2);
    CHECK(must(at_store->namespaces(first.substr(0, 40))) == std::vector{first, second});
    CHECK(store::short_name(std::string(63, 'n')) == std::string(63, 'n'));
    CHECK(store::short_name(std::string(64, 'n')).size() == 63);
    // Not cut within a character: 25 letters, then two bytes where the cut would be.
    CHECK(store::short_name(std::string(25, 'n') + "\u00e9" + std::string(60, 'n')).size() == 62);
}

TEST_CASE("PostgreSQL: a table of somebody else or of other columns is left alone") {
    const auto name = fresh("foreign");
    const auto at_store = open();
    must(at_store->ensure(fresh("schema")));
    query_postgres("CREATE TABLE pgweir_store." + migration::quoted_name(name) + " (id bigint)");
    const auto answer = at_store->ensure(name);
    CHECK(fault_of(answer) == fault::refused);
    CHECK(answer.error().text.find("pgweir has not made") != std::string::npos);
    const auto other = fresh("columns");
    must(at_store->ensure(other));
    auto layout = table();
    layout.attributes.pop_back();
    CHECK(fault_of(open(layout)->ensure(other)) == fault::refused);
    layout = table();
    layout.half = true;
    CHECK(fault_of(open(layout)->ensure(other)) == fault::refused);
}

TEST_CASE("PostgreSQL: writers that make the same table at once all succeed") {
    const auto name = fresh("together");
    std::vector<std::jthread> threads;
    std::atomic<int> made = 0;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] { made += open()->ensure(name).has_value() ? 1 : 0; });
    }
    threads.clear();
    CHECK(made == 8);
}

TEST_CASE("PostgreSQL: of writers that race the newest version stays") {
    const auto name = fresh("race");
    must(open()->ensure(name));
    std::vector<std::jthread> threads;
    for (unsigned writer = 0; writer < 4; ++writer) {
        threads.emplace_back([&, writer] {
            const auto at_store = open();
            for (std::uint64_t lsn = writer; lsn < 200; lsn += 4) {
                std::vector<document> rows;
                // In one order, or two transactions would wait for each other.
                for (std::int64_t id = 0; id < 20; ++id) {
                    // Each key has its newest version at another time.
                    rows.push_back(row(id, at((lsn + static_cast<std::uint64_t>(id) * 17) % 200)));
                    rows.back().attributes[0] = static_cast<std::int64_t>(rows.back().version.lsn);
                }
                CHECK(at_store->upsert(name, rows).has_value());
            }
        });
    }
    threads.clear();
    const auto page = must(open()->scan(name, "", 100, {.attributes = true}));
    REQUIRE(page.documents.size() == 20);
    for (const auto& each : page.documents) {
        CHECK(each.version == at(199));
        CHECK(each.attributes[0] == value(std::int64_t{199}));
    }
}

TEST_CASE("PostgreSQL: who may not is denied") {
    const auto name = fresh("denied");
    must(open()->ensure(name));
    const auto other = store::make_postgres(address_of(shared_postgres(), "app2"), table());
    CHECK(fault_of(other->ensure(fresh("denied"))) == fault::denied);
    CHECK(fault_of(other->upsert(name, rows_from(1, 1))) == fault::denied);
    auto wrong = address_of(shared_postgres());
    wrong.password = "no-such-password";
    const auto answer = store::make_postgres(wrong, table())->count(name);
    CHECK(fault_of(answer) == fault::denied);
    CHECK(answer.error().text.find("no-such-password") == std::string::npos);
}

TEST_CASE("PostgreSQL: a server that is not there is unreachable") {
    auto nowhere = address_of(shared_postgres());
    nowhere.port = 1;
    CHECK(fault_of(store::make_postgres(nowhere, table())->count("any")) == fault::unreachable);
}

TEST_CASE("PostgreSQL: SQLSTATEs become faults") {
    struct row_of {
        const char* state;
        fault what;
    };

    for (const auto& each :
         std::vector<row_of>{{"", fault::unreachable},      {"08006", fault::unreachable},
                             {"57P01", fault::unreachable}, {"57P03", fault::unreachable},
                             {"53300", fault::throttled},   {"53100", fault::failed},
                             {"42501", fault::denied},      {"28P01", fault::denied},
                             {"42P01", fault::missing},     {"3F000", fault::missing},
                             {"22001", fault::refused},     {"23505", fault::refused},
                             {"21000", fault::refused},     {"54000", fault::refused},
                             {"42703", fault::refused},     {"40001", fault::failed},
                             {"40P01", fault::failed},      {"57014", fault::failed},
                             {"25006", fault::failed},      {"XX000", fault::failed}}) {
        CAPTURE(each.state);
        CHECK(store::fault_of(each.state) == each.what);
    }
}

TEST_CASE("PostgreSQL: a statement that takes too long is given up") {
    const auto name = fresh("late");
    const auto at_store =
        store::make_postgres(address_of(shared_postgres()), table(), milliseconds(300));
    must(at_store->ensure(name));
    must(at_store->upsert(name, rows_from(1, 1)));
    migration::sql_session holder;
    REQUIRE(!holder.connect(address_of(shared_postgres(), "postgres")));
    REQUIRE(holder.run("BEGIN; LOCK TABLE " + store::table_of(name)));
    const auto answer = at_store->upsert(name, rows_from(2, 1));
    CHECK(fault_of(answer) == fault::unreachable);
    CHECK(answer.error().text.find("no answer in time") != std::string::npos);
    REQUIRE(holder.run("ROLLBACK"));
    // Carried out or not: the same again makes it right.
    must(at_store->upsert(name, rows_from(2, 1)));
    CHECK(must(at_store->count(name)) == 2);
}

TEST_CASE("PostgreSQL: what was acknowledged outlives kill -9") {
    const auto servers = own_postgres("killed");
    const auto node = servers.primary().name;
    const auto at_store = store::make_postgres(address_of(servers), table());
    const auto name = fresh("killed");
    must(at_store->ensure(name));
    std::int64_t acknowledged = 0;
    for (int round = 0; round < 2; ++round) {
        const auto enough = acknowledged + 500;
        std::jthread killer;
        for (;;) {
            const auto answer = at_store->upsert(name, rows_from(acknowledged, 50));
            if (!answer) {
                CHECK(answer.error().what == fault::unreachable);
                break;
            }
            acknowledged += 50;
            if (acknowledged == enough) {
                killer = std::jthread([&] { servers.tool("kill " + node); });
            }
        }
        killer.join();
        CHECK(fault_of(at_store->count(name)) == fault::unreachable);
        servers.tool("start-node " + node);
        const auto there = static_cast<std::int64_t>(must(at_store->count(name)));
        CHECK(there >= acknowledged);
        CHECK(there <= acknowledged + 50);
        check_same(
            row(acknowledged - 1, at(10)),
            one(*at_store, name, key_of(acknowledged - 1)),
            at_store->able()
        );
    }
}

}  // namespace
}  // namespace weir::stores
