// The contract of stores, writing. To add a store, see candidates.hpp.
#include "tests/stores/contract.hpp"

#include <string>

namespace weir::stores {
namespace {

TEST_CASE_TEMPLATE("ensure may be repeated and keeps what is there", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("ensure");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    CHECK(must(at_store->count(name)) == 0);
    must(at_store->upsert(name, std::vector{row(1, at(10))}));
    must(at_store->ensure(name));
    must(candidate.make(table())->ensure(name));
    CHECK(must(at_store->count(name)) == 1);
}

TEST_CASE_TEMPLATE("ensure refuses another dimension or metric and drops nothing", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("mismatch");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    if (candidate.knows_empty) {
        CHECK(fault_of(candidate.make(table(5))->ensure(name)) == fault::refused);
    }
    must(at_store->upsert(name, std::vector{row(1, at(10))}));
    CHECK(fault_of(candidate.make(table(5))->ensure(name)) == fault::refused);
    CHECK(
        fault_of(candidate.make(table(4, store::metric::cosine))->ensure(name)) == fault::refused
    );
    CHECK(must(at_store->count(name)) == 1);
    check_same(row(1, at(10)), one(*at_store, name, key_of(1)), at_store->able());
}

TEST_CASE_TEMPLATE("an upsert replaces the document whole", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("whole");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    auto first = row(7, at(10));
    first.part = 16400;
    const auto done = must(at_store->upsert(name, std::vector{first, row(8, at(10))}));
    CHECK(done.applied == 2);
    CHECK(done.absent.empty());
    check_same(first, one(*at_store, name, key_of(7)), at_store->able());
    // What is NULL now is gone, and so is the partition.
    auto second = row(7, at(11));
    second.embedding = embedding_of(100);
    second.attributes = {{}, {}, 2.5, {}, {}};
    CHECK(must(at_store->upsert(name, std::vector{second})).applied == 1);
    check_same(second, one(*at_store, name, key_of(7)), at_store->able());
    CHECK(must(at_store->count(name)) == 2);
}

TEST_CASE_TEMPLATE("an older upsert leaves the newer document alone", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("older");
    const auto at_store = candidate.make(table());
    if (!at_store->able().conditional) {
        MESSAGE("the writer orders: this store has no conditional write");
        return;
    }
    must(at_store->ensure(name));
    const std::vector<version> newer{at(10, 5), at(11, 0), {.timeline = 2, .lsn = 1, .ordinal = 0}};
    for (const auto& each : newer) {
        must(at_store->upsert(name, std::vector{row(1, each)}));
        auto late = row(1, each);
        late.version.ordinal = 0;
        late.version.lsn -= 1;
        late.embedding = embedding_of(99);
        late.attributes[1] = "late";
        // One that is outdated does not hold up the others of its batch.
        const auto done = must(at_store->upsert(name, std::vector{late, row(2, each)}));
        CHECK(done.applied == 1);
        check_same(row(1, each), one(*at_store, name, key_of(1)), at_store->able());
    }
    // The same version again is applied: a batch may be repeated.
    auto again = row(1, newer.back());
    again.attributes[1] = "again";
    CHECK(must(at_store->upsert(name, std::vector{again})).applied == 1);
    check_same(again, one(*at_store, name, key_of(1)), at_store->able());
}

TEST_CASE_TEMPLATE("versions are compared exactly over their whole range", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("range");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    constexpr version high{
        .timeline = 0xFFFFFFFF,
        .lsn = 0xFFFFFFFFFFFFFFFF,
        .ordinal = 0xFFFFFFFF};
    auto below = high;
    below.ordinal -= 1;
    must(at_store->upsert(name, std::vector{row(1, high)}));
    CHECK(one(*at_store, name, key_of(1)).version == high);
    if (at_store->able().conditional) {
        CHECK(must(at_store->upsert(name, std::vector{row(1, below)})).applied == 0);
        CHECK(one(*at_store, name, key_of(1)).version == high);
    }
}

TEST_CASE_TEMPLATE("a patch keeps the embedding and names absent keys", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("patch");
    const auto at_store = candidate.make(table());
    if (!at_store->able().patches) {
        MESSAGE("this store has no patch");
        return;
    }
    must(at_store->ensure(name));
    must(at_store->upsert(name, std::vector{row(1, at(10)), row(2, at(10)), row(3, at(30))}));
    auto first = row(1, at(20));
    first.attributes = {std::int64_t{5}, {}, 9.75, {}, true};
    first.part = 77;
    auto patch = first;
    patch.embedding.clear();
    auto absent = row(404, at(20));
    absent.embedding.clear();
    const auto done = must(at_store->patch(name, std::vector{patch, absent}));
    CHECK(done.applied == 1);
    REQUIRE(done.absent.size() == 1);
    CHECK(done.absent[0] == key_of(404));
    check_same(first, one(*at_store, name, key_of(1)), at_store->able());
    check_same(row(2, at(10)), one(*at_store, name, key_of(2)), at_store->able());
    CHECK(must(at_store->count(name)) == 3);
    if (at_store->able().conditional) {
        auto late = row(3, at(20));
        late.embedding.clear();
        late.attributes[1] = "late";
        // There, but newer: neither applied nor absent.
        const auto skipped = must(at_store->patch(name, std::vector{late, absent}));
        CHECK(skipped.applied == 0);
        CHECK(skipped.absent == std::vector<key>{key_of(404)});
        check_same(row(3, at(30)), one(*at_store, name, key_of(3)), at_store->able());
    }
}

TEST_CASE_TEMPLATE("a removal takes the document and what is absent is no error", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("remove");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    must(at_store->upsert(name, std::vector{row(1, at(10)), row(2, at(10)), row(3, at(10))}));
    must(at_store->remove(
        name,
        std::vector<removal>{{key_of(1), at(20)}, {key_of(404), at(20)}, {key_of(3), at(10)}}
    ));
    CHECK(must(at_store->count(name)) == 1);
    CHECK(one(*at_store, name, key_of(2)).key == key_of(2));
}

TEST_CASE_TEMPLATE("removals of one call are compared with their own versions", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("ordinals");
    const auto at_store = candidate.make(table());
    if (!at_store->able().conditional) {
        MESSAGE("the writer orders: this store has no conditional write");
        return;
    }
    must(at_store->ensure(name));
    // One transaction at LSN 50 that has written some of the rows itself, before and after the
    // removals: stored versions lie below, between and above those of the removals.
    std::vector<document> rows;
    std::vector<removal> removals;
    std::vector<std::int64_t> left;
    for (std::int64_t id = 0; id < 60; ++id) {
        const auto ordinal = static_cast<std::uint32_t>(id);
        const auto stored_at = id % 4 == 0   ? at(40, 7)
                               : id % 4 == 1 ? at(50, ordinal == 0 ? 0 : ordinal - 1)
                               : id % 4 == 2 ? at(50, ordinal)
                                             : at(50, ordinal + 1);
        rows.push_back(row(id, stored_at));
        removals.push_back({key_of(id), at(50, ordinal)});
        if (id % 4 == 3) {
            left.push_back(id);
        }
    }
    must(at_store->upsert(name, rows));
    const auto done = must(at_store->remove(name, removals));
    CHECK(done.applied == 45);
    CHECK(ids_of(must(at_store->scan(name, "", 100, {})).documents) == left);
    CHECK(must(at_store->remove(name, removals)).applied == 0);
}

TEST_CASE_TEMPLATE("clear empties the namespace or one partition", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("clear");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    std::vector<document> rows;
    for (std::int64_t id = 0; id < 40; ++id) {
        rows.push_back(row(id, at(10)));
        rows.back().part = id % 2 == 0 ? 4294967295U : 16384U;
    }
    must(at_store->upsert(name, rows));
    CHECK(clear_all(*at_store, name, 4294967295U) == 1);
    CHECK(must(at_store->count(name)) == 20);
    CHECK(one(*at_store, name, key_of(2)).key.empty());
    CHECK(one(*at_store, name, key_of(3)).part == 16384);
    CHECK(clear_all(*at_store, name, 999) == 1);
    CHECK(must(at_store->count(name)) == 20);
    CHECK(clear_all(*at_store, name, 0) == 1);
    CHECK(must(at_store->count(name)) == 0);
    // It is still there to be written.
    must(at_store->upsert(name, std::vector{row(1, at(5))}));
    CHECK(must(at_store->count(name)) == 1);
}

// Between the calls whoever clears looks whether it may go on.
TEST_CASE_TEMPLATE("clear takes a bounded number of documents in one call", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    auto bound = candidate.clears;
    if (candidate.control && candidate.able.conditional) {
        bound = 30;
        candidate.control(R"({"limits": {"filter_deletes": 30}})");
    }
    const auto at_store = candidate.make(table());
    const auto name = fresh("rounds");
    must(at_store->ensure(name));
    const auto total = bound == 0 ? 100 : bound + bound / 2;
    std::vector<document> rows;
    for (std::size_t id = 0; id < total; ++id) {
        rows.push_back(row(static_cast<std::int64_t>(id), at(10)));
        rows.back().part = 16384;
        if (rows.size() == 500 || id + 1 == total) {
            must(at_store->upsert(name, rows));
            rows.clear();
        }
    }
    CHECK(must(at_store->clear(name, 16384)) == (bound != 0));
    CHECK(must(at_store->count(name)) == (bound == 0 ? 0 : bound / 2));
    CHECK_FALSE(must(at_store->clear(name, 16384)));
    CHECK(must(at_store->count(name)) == 0);
    if (candidate.control) {
        candidate.control(R"({"limits": {}})");
    }
}

TEST_CASE_TEMPLATE("batches as large as the store allows", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("large");
    const auto at_store = candidate.make(table(8));
    must(at_store->ensure(name));
    const auto most = std::min<std::size_t>(at_store->able().max_documents, 5000);
    REQUIRE(most > 0);
    const auto total = most * 2 + most / 2;
    std::vector<document> rows;
    std::vector<key> keys;
    for (std::size_t id = 0; id < total; ++id) {
        rows.push_back(row(static_cast<std::int64_t>(id), at(10, static_cast<unsigned>(id)), 8));
        keys.push_back(rows.back().key);
    }
    const std::span all{rows};
    std::uint64_t applied = 0;
    for (std::size_t from = 0; from < total; from += most) {
        const auto size = std::min(most, total - from);
        const auto done = must(at_store->upsert(name, all.subspan(from, size)));
        applied += done.applied;
        CHECK(done.bytes > size * 8);
        CHECK(done.bytes <= at_store->able().max_bytes);
    }
    CHECK(applied == total);
    CHECK(must(at_store->count(name)) == total);
    const auto found = must(at_store->fetch(name, std::span{keys}.first(most), everything));
    CHECK(found.size() == most);
    std::vector<removal> removals;
    for (std::size_t id = 0; id < most; ++id) {
        removals.push_back({keys[id], at(20, static_cast<unsigned>(id))});
    }
    must(at_store->remove(name, removals));
    CHECK(must(at_store->count(name)) == total - most);
}

TEST_CASE_TEMPLATE("nothing to write is no error", S, WEIR_STORES) {
    WEIR_CANDIDATE(candidate, S);
    const auto name = fresh("nothing");
    const auto at_store = candidate.make(table());
    must(at_store->ensure(name));
    CHECK(must(at_store->upsert(name, {})).applied == 0);
    CHECK(must(at_store->patch(name, {})).applied == 0);
    CHECK(must(at_store->remove(name, {})).applied == 0);
    CHECK(must(at_store->fetch(name, {}, everything)).empty());
}

}  // namespace
}  // namespace weir::stores
