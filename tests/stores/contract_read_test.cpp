// The contract of stores, reading. To add a store, see candidates.hpp.
#include "tests/stores/contract.hpp"

#include <map>
#include <set>
#include <string>

namespace weir::stores {
namespace {

TEST_CASE_TEMPLATE("a store says truly what it is able to do", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto at_store = candidate.make(table());
    const auto& able = at_store->able();
    CHECK(able.conditional == candidate.able.conditional);
    CHECK(able.patches == candidate.able.patches);
    CHECK(able.normalises == candidate.able.normalises);
    CHECK(able.exact_search == candidate.able.exact_search);
    CHECK(able.max_documents > 0);
    CHECK(able.max_bytes > 0);
    CHECK(able.max_parallel > 0);
}

TEST_CASE_TEMPLATE("fetch gives what was asked for", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("fetch");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    must(at_store->upsert(name, std::vector{row(1, at(10)), row(2, at(11, 3)), row(3, at(12))}));
    const std::vector<key> keys{key_of(3), key_of(404), key_of(2)};
    const auto bare = must(at_store->fetch(name, keys, {}));
    CHECK(ids_of(bare) == std::vector<std::int64_t>{2, 3});
    for (const auto& each : bare) {
        CHECK(each.embedding.empty());
        CHECK(each.attributes.empty());
        CHECK(each.version == (each.key == key_of(2) ? at(11, 3) : at(12)));
    }
    const auto vectors =
        must(at_store->fetch(name, keys, {.embedding = true, .attributes = false}));
    REQUIRE(vectors.size() == 2);
    CHECK(vectors[0].embedding.size() == 4);
    CHECK(vectors[0].attributes.empty());
    const auto attributes =
        must(at_store->fetch(name, keys, {.embedding = false, .attributes = true}));
    REQUIRE(attributes.size() == 2);
    CHECK(attributes[0].embedding.empty());
    CHECK(attributes[0].attributes.size() == 5);
}

TEST_CASE_TEMPLATE("scan reaches every document once by pages", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("scan");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    CHECK(must(at_store->scan(name, "", 10, everything)).documents.empty());
    CHECK(must(at_store->scan(name, "", 10, everything)).next.empty());
    std::vector<document> rows;
    for (std::int64_t id = -30; id < 67; ++id) {
        rows.push_back(row(id, at(10)));
    }
    must(at_store->upsert(name, rows));
    for (const std::size_t limit : {1U, 7U, 96U, 97U, 98U}) {
        std::map<std::int64_t, stored> seen;
        std::string after;
        std::size_t pages = 0;
        do {
            auto page = must(at_store->scan(name, after, limit, everything));
            CHECK(page.documents.size() <= limit);
            for (auto& each : page.documents) {
                const auto id = std::get<std::int64_t>(each.key.at(0));
                CHECK(seen.emplace(id, std::move(each)).second);
            }
            after = page.next;
            REQUIRE(++pages < 200);
        } while (!after.empty());
        CHECK(seen.size() == rows.size());
        check_same(rows[5], seen[-25], at_store->able());
    }
}

TEST_CASE_TEMPLATE("count follows writes at once", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("count");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    for (std::int64_t id = 1; id <= 5; ++id) {
        must(at_store->upsert(name, std::vector{row(id, at(10))}));
        CHECK(must(at_store->count(name)) == static_cast<std::uint64_t>(id));
    }
    must(at_store->remove(name, std::vector<removal>{{key_of(2), at(11)}}));
    CHECK(must(at_store->count(name)) == 4);
}

// As pgvector computes <->, <=> and <#>, in double precision.
double distance(store::metric metric, std::span<const float> a, std::span<const float> b) {
    double dot = 0;
    double a_square = 0;
    double b_square = 0;
    double apart = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double x = static_cast<double>(a[i]);
        const double y = static_cast<double>(b[i]);
        dot += x * y;
        a_square += x * x;
        b_square += y * y;
        apart += (x - y) * (x - y);
    }
    switch (metric) {
    case store::metric::l2: return std::sqrt(apart);
    case store::metric::cosine: return 1 - dot / std::sqrt(a_square * b_square);
    case store::metric::inner_product: break;
    }
    return -dot;
}

TEST_CASE_TEMPLATE("search gives the distances of pgvector", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    for (const auto metric : candidate.metrics) {
        CAPTURE(static_cast<int>(metric));
        const auto name = fresh("metric");
        const auto at_store = candidate.make(table(16, metric));
        must(at_store->ensure(name));
        std::vector<document> rows;
        std::map<double, std::int64_t> right;
        const auto wanted = embedding_of(1000, 16);
        for (std::int64_t id = 0; id < 200; ++id) {
            rows.push_back(row(id, at(10), 16));
            right.emplace(distance(metric, rows.back().embedding, wanted), id);
        }
        must(at_store->upsert(name, rows));
        auto what = nearest(wanted, 20);
        what.exact = at_store->able().exact_search;
        const auto hits = must(at_store->search(name, what));
        REQUIRE(hits.size() == 20);
        auto expected = right.begin();
        for (const auto& each : hits) {
            CHECK(each.key == key_of(expected->second));
            CHECK(std::abs(each.distance - expected->first) < 1e-5);
            ++expected;
        }
    }
}

TEST_CASE_TEMPLATE("search of an empty namespace finds nothing", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("empty");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    const auto wanted = embedding_of(1);
    CHECK(must(at_store->search(name, nearest(wanted))).empty());
    must(at_store->upsert(name, std::vector{row(1, at(10)), row(2, at(10))}));
    CHECK(must(at_store->search(name, nearest(wanted))).size() == 2);
}

TEST_CASE_TEMPLATE("a metric that the store does not have is refused", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto has = [&](store::metric metric) {
        return std::count(candidate.metrics.begin(), candidate.metrics.end(), metric) != 0;
    };
    for (const auto metric :
         {store::metric::l2, store::metric::cosine, store::metric::inner_product}) {
        const auto found = candidate.make(table(4, metric))->ensure(fresh("refused"));
        CHECK(static_cast<bool>(found) == has(metric));
        if (!found) {
            CHECK(found.error().what == fault::refused);
        }
    }
}

TEST_CASE_TEMPLATE("namespaces are listed by their beginning", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto prefix = fresh("org") + "-";
    const auto at_store = candidate.make(table());
    std::vector<std::string> names;
    for (const auto* end : {"9", "10", "a_b", "A.b", "c--d"}) {
        names.push_back(prefix + end);
        must(at_store->ensure(names.back()));
        must(at_store->upsert(names.back(), std::vector{row(1, at(10))}));
    }
    const auto other = fresh("other");
    must(at_store->ensure(other));
    must(at_store->upsert(other, std::vector{row(1, at(10))}));
    std::sort(names.begin(), names.end());
    CHECK(must(at_store->namespaces(prefix)) == names);
    CHECK(must(at_store->namespaces(prefix + "zz")).empty());
    const auto all = must(at_store->namespaces(""));
    CHECK(std::is_sorted(all.begin(), all.end()));
    CHECK(std::count(all.begin(), all.end(), other) == 1);
}

TEST_CASE_TEMPLATE("a namespace that is not there is reported as missing", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("missing");
    const auto at_store = candidate.make(table());
    const auto wanted = embedding_of(1);
    const std::vector<key> keys{key_of(1)};
    auto patch = row(1, at(1));
    patch.embedding.clear();
    CHECK(fault_of(at_store->count(name)) == fault::missing);
    CHECK(fault_of(at_store->fetch(name, keys, everything)) == fault::missing);
    CHECK(fault_of(at_store->scan(name, "", 10, everything)) == fault::missing);
    CHECK(fault_of(at_store->search(name, nearest(wanted))) == fault::missing);
    if (at_store->able().patches) {
        CHECK(fault_of(at_store->patch(name, std::vector{patch})) == fault::missing);
    }
    CHECK(must(at_store->namespaces(name)).empty());
}

TEST_CASE_TEMPLATE("two namespaces do not see each other", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto first = fresh("one");
    const auto second = fresh("two");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(first));
    must(at_store->ensure(second));
    must(at_store->upsert(first, std::vector{row(1, at(10)), row(2, at(10))}));
    must(at_store->upsert(second, std::vector{row(1, at(20))}));
    must(at_store->remove(second, std::vector<removal>{{key_of(2), at(30)}}));
    clear_all(*at_store, second, 0);
    CHECK(must(at_store->count(first)) == 2);
    CHECK(one(*at_store, first, key_of(1)).version == at(10));
}

}  // namespace
}  // namespace weir::stores
