// What is particular about Chroma, against the real server.
#include "migration/store/chroma.hpp"

#include "migration/store/chroma_collections.hpp"
#include "migration/store/json_reader.hpp"
#include "tests/stores/chroma_process.hpp"
#include "tests/stores/contract.hpp"

#include <boost/json.hpp>

#include <bit>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <thread>

namespace weir::stores {
namespace {

constexpr const char* collections =
    "/api/v2/tenants/default_tenant/databases/default_database/collections";

chroma_process& running() {
    static chroma_process made;
    return made;
}

std::unique_ptr<store::store> open(const store::layout& rows = table()) {
    return store::make_chroma({.url = running().url()}, rows);
}

// A request past the adapter.
boost::json::value ask(const char* method, const std::string& target, std::string_view body = {}) {
    store::http_client client({.url = running().url()});
    const auto answer =
        must(client.send({.method = method, .target = collections + target, .body = body}));
    REQUIRE(answer.status / 100 == 2);
    const auto parsed = store::parse_json(answer.body);
    REQUIRE(parsed.has_value());
    return *parsed;
}

std::string id_of(const std::string& name) {
    const auto described = ask("GET", "/" + name);
    return std::string(store::text_of(store::member(&described, "id")).value());
}

std::vector<document> rows_from(std::int64_t first, std::size_t count) {
    std::vector<document> rows;
    for (std::size_t i = 0; i < count; ++i) {
        rows.push_back(row(first + static_cast<std::int64_t>(i), at(10)));
    }
    return rows;
}

void write(store::store& to, const std::string& name, std::span<const document> rows) {
    while (!rows.empty()) {
        const auto some = rows.first(std::min(rows.size(), to.able().max_documents));
        must(to.upsert(name, some));
        rows = rows.subspan(some.size());
    }
}

TEST_CASE("Chroma: what is over 40 MiB is too large and what is allowed fits") {
    constexpr std::size_t limit = std::size_t{40} << 20;
    const auto at_store = open();
    const auto name = fresh("forty");
    must(at_store->ensure(name));
    REQUIRE(at_store->able().max_bytes < limit);
    auto rows = rows_from(0, 84);
    for (auto& each : rows) {
        each.attributes[1] = std::string(std::size_t{500} << 10, 'x');
    }
    const auto all = at_store->upsert(name, rows);
    CHECK(fault_of(all) == fault::too_large);
    CHECK(must(at_store->count(name)) == 0);
    const auto fit = must(at_store->upsert(name, std::span(rows).first(64)));
    CHECK(fit.bytes > at_store->able().max_bytes * 9 / 10);
    CHECK(fit.bytes < at_store->able().max_bytes);
    CHECK(must(at_store->count(name)) == 64);
}

TEST_CASE("Chroma: an attribute that becomes NULL leaves no metadata behind") {
    const auto at_store = open();
    const auto name = fresh("merge");
    must(at_store->ensure(name));
    auto one_row = row(7, at(10));
    one_row.attributes[2] = 1.0 / 3;  // which has its exact text beside it
    must(at_store->upsert(name, std::vector{one_row}));
    const auto metadata = [&] {
        const auto got =
            ask("POST", "/" + id_of(name) + "/get", R"({"ids":["7"],"include":["metadatas"]})");
        return got.at("metadatas").as_array().at(0).as_object();
    };
    CHECK(metadata().contains("topic"));
    CHECK(metadata().contains("pgweir_real_price"));
    one_row.attributes = {{}, {}, {}, {}, {}};
    one_row.version = at(11);
    SUBCASE("by an upsert") {
        must(at_store->upsert(name, std::vector{one_row}));
    }
    SUBCASE("by a patch") {
        one_row.embedding.clear();
        must(at_store->patch(name, std::vector{one_row}));
    }
    for (const auto* gone : {"tenant", "topic", "price", "seen", "ok", "pgweir_real_price"}) {
        CHECK(!metadata().contains(gone));
    }
    CHECK(metadata().at("pgweir_null_topic").as_bool());
}

TEST_CASE("Chroma: embeddings that are not finite or too short are not sent") {
    const auto at_store = open();
    const auto name = fresh("finite");
    must(at_store->ensure(name));
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(),
          std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
        auto rows = rows_from(1, 3);
        rows[1].embedding[3] = bad;
        const auto answer = at_store->upsert(name, rows);
        CHECK(fault_of(answer) == fault::refused);
        CHECK(answer.error().text.find("key 2: ") != std::string::npos);
    }
    auto rows = rows_from(1, 2);
    rows[1].embedding.pop_back();
    const auto answer = at_store->upsert(name, rows);
    CHECK(fault_of(answer) == fault::refused);
    CHECK(answer.error().text.find("3 dimensions instead of 4") != std::string::npos);
    CHECK(must(at_store->count(name)) == 0);
}

TEST_CASE("Chroma: reals come back to the last bit") {
    auto layout = table();
    layout.attributes = {{"r", value_kind::real, "double precision"}};
    const auto at_store = open(layout);
    const auto name = fresh("reals");
    must(at_store->ensure(name));
    std::mt19937_64 random(7);
    std::vector<document> rows;
    for (std::int64_t id = 0; id < 900; ++id) {
        double number = 0;
        do {
            number = id % 3 == 0   ? std::uniform_real_distribution<>(-1, 1)(random)
                     : id % 3 == 1 ? static_cast<double>(random()) / 1000
                                   : std::bit_cast<double>(random());
        } while (!std::isfinite(number));
        rows.push_back(row(id, at(10)));
        rows.back().attributes = {number};
    }
    must(at_store->upsert(name, rows));
    std::vector<key> keys;
    for (const auto& each : rows) {
        keys.push_back(each.key);
    }
    std::size_t same = 0;
    for (const auto& each : must(at_store->fetch(name, keys, {.attributes = true}))) {
        same += each.attributes == rows[std::get<std::int64_t>(each.key[0])].attributes ? 1 : 0;
    }
    CHECK(same == rows.size());
}

TEST_CASE("Chroma: nothing that is empty empties a collection") {
    const auto at_store = open();
    const auto name = fresh("wipe");
    must(at_store->ensure(name));
    must(at_store->upsert(name, rows_from(0, 5)));
    must(at_store->remove(name, {}));
    clear_all(*at_store, name, 16384);
    CHECK(must(at_store->count(name)) == 5);
}

TEST_CASE("Chroma: clear goes through more than one page") {
    const auto at_store = open();
    const auto name = fresh("pages");
    must(at_store->ensure(name));
    auto rows = rows_from(0, 4300);
    for (auto& each : rows) {
        each.part = std::get<std::int64_t>(each.key[0]) < 2200 ? 16384 : 16385;
    }
    write(*at_store, name, rows);
    CHECK(clear_all(*at_store, name, 16384) == 2);
    CHECK(must(at_store->count(name)) == 2100);
    CHECK(one(*at_store, name, key_of(2200)).part == 16385);
    CHECK(clear_all(*at_store, name, 0) == 2);
    CHECK(must(at_store->count(name)) == 0);
}

TEST_CASE("Chroma: a scan passes over nothing while documents are removed") {
    const auto at_store = open();
    const auto name = fresh("moving");
    must(at_store->ensure(name));
    write(*at_store, name, rows_from(0, 1500));
    std::set<std::int64_t> seen;
    std::string after;
    do {
        const auto page = must(at_store->scan(name, after, 100, {}));
        std::vector<removal> removals;
        for (const auto& each : page.documents) {
            CHECK(seen.insert(std::get<std::int64_t>(each.key[0])).second);
            removals.push_back({each.key, at(20)});
        }
        must(at_store->remove(name, removals));
        after = page.next;
    } while (!after.empty());
    CHECK(seen.size() == 1500);
    CHECK(must(at_store->count(name)) == 0);
}

TEST_CASE("Chroma: a collection that was made anew is found again") {
    const auto at_store = open();
    const auto name = fresh("anew");
    must(at_store->ensure(name));
    must(at_store->upsert(name, rows_from(0, 2)));
    ask("DELETE", "/" + name);
    CHECK(fault_of(at_store->upsert(name, rows_from(0, 2))) == fault::missing);
    must(open()->ensure(name));
    CHECK(must(at_store->count(name)) == 0);
    ask("DELETE", "/" + name);
    must(open()->ensure(name));
    must(at_store->upsert(name, rows_from(0, 3)));
    CHECK(must(at_store->count(name)) == 3);
}

TEST_CASE("Chroma: names that it does not allow are written otherwise") {
    const auto prefix = fresh("names");
    const std::vector<std::string> odd{
        prefix + "-",
        prefix + "_",
        prefix + "a..b",
        prefix + " ä/b",
        "_" + prefix,
        "pgweir-x-" + prefix};
    const auto at_store = open();
    for (const auto& name : odd) {
        CAPTURE(name);
        must(at_store->ensure(name));
        must(at_store->upsert(name, rows_from(0, 1)));
        must(at_store->ensure(name));
        CHECK(must(at_store->namespaces(name)) == std::vector{name});
    }
    CHECK(fault_of(at_store->ensure(prefix + std::string(500, 'n'))) == fault::refused);
    CHECK(fault_of(at_store->ensure("")) == fault::refused);
}

TEST_CASE("Chroma: names of collections differ for different namespaces") {
    CHECK(store::collection_name("org-17") == "org-17");
    CHECK(store::collection_name("A.b_c-9") == "A.b_c-9");
    CHECK(store::collection_name("ab") == "pgweir-x-ab");
    CHECK(store::collection_name("192.168.1.1") == "pgweir-x-192_2e168_2e1_2e1");
    CHECK(store::collection_name("org-x__") == "pgweir-x-org_2dx_5f_5f");
    CHECK(store::collection_name("pgweir-x-ab") == "pgweir-x-pgweir_2dx_2dab");
    CHECK(store::collection_name(std::string(512, 'a')) == std::string(512, 'a'));
    CHECK(store::collection_name(std::string(513, 'a')).empty());
}

TEST_CASE("Chroma: a collection of somebody else is left alone") {
    const auto name = fresh("foreign");
    ask("POST", "", R"({"name":")" + name + R"("})");
    const auto answer = open()->ensure(name);
    CHECK(fault_of(answer) == fault::refused);
    CHECK(answer.error().text.find("pgweir has not made") != std::string::npos);
}

TEST_CASE("Chroma: what was acknowledged outlives kill -9") {
    chroma_process own;
    const auto at_store = store::make_chroma({.url = own.url()}, table());
    const auto name = fresh("killed");
    must(at_store->ensure(name));
    std::int64_t acknowledged = 0;
    for (int round = 0; round < 2; ++round) {
        const auto enough = acknowledged + 250;
        std::jthread killer;
        for (;;) {
            const auto answer = at_store->upsert(name, rows_from(acknowledged, 50));
            if (!answer) {
                CHECK(answer.error().what == fault::unreachable);
                break;
            }
            acknowledged += 50;
            if (acknowledged == enough) {
                killer = std::jthread([&] { own.kill(); });  // while the next one is on its way
            }
        }
        killer.join();
        own.start();
        const auto there = static_cast<std::int64_t>(must(at_store->count(name)));
        CHECK(there >= acknowledged);
        CHECK(there <= acknowledged + 50);
        std::vector<key> keys;
        for (std::int64_t id = 0; id < acknowledged; ++id) {
            keys.push_back(key_of(id));
        }
        const auto found = must(at_store->fetch(name, keys, everything));
        CHECK(found.size() == keys.size());
        for (const auto& each : found) {
            const auto id = std::get<std::int64_t>(each.key[0]);
            CHECK(each.embedding == row(id, at(10)).embedding);
        }
        const auto wanted = embedding_of(3);
        const auto hits =
            must(at_store->search(name, {.embedding = wanted, .limit = 1, .filter = {}}));
        REQUIRE(hits.size() == 1);
        CHECK(hits[0].key == key_of(3));
    }
}

}  // namespace
}  // namespace weir::stores
