// What the contract tests share: a table to migrate, its documents, and short names for calls.
#pragma once

#include "tests/stores/candidates.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::stores {

using migration::document;
using migration::is_null;
using migration::key;
using migration::removal;
using migration::stored;
using migration::value;
using migration::value_kind;
using migration::version;
using store::fault;

// Begins a test: the store, or the end of the test when it cannot run here.
#define WEIR_CANDIDATE(name, type)            \
    auto& name = type::get();                 \
    if (!name.skipped.empty()) {              \
        MESSAGE("not run: " << name.skipped); \
        return;                               \
    }                                         \
    static_assert(true)

// A namespace that no other test of this run or of another one uses.
[[nodiscard]] std::string fresh(std::string_view topic);

// Key `id bigint`; attributes tenant bigint, topic text, price double precision, seen timestamptz,
// ok boolean.
[[nodiscard]] store::layout
table(std::size_t dimensions = 4, store::metric metric = store::metric::l2);

// A document of that table; the embedding depends on `id` alone.
[[nodiscard]] document row(std::int64_t id, version at, std::size_t dimensions = 4);
[[nodiscard]] std::vector<float> embedding_of(std::int64_t id, std::size_t dimensions = 4);

[[nodiscard]] inline version at(std::uint64_t lsn, std::uint32_t ordinal = 0) {
    return {.timeline = 1, .lsn = lsn, .ordinal = ordinal};
}

[[nodiscard]] inline key key_of(std::int64_t id) {
    return {id};
}

// The value, or the end of the test with the store's words.
template <typename Value>
Value must(store::result<Value>&& from) {
    if (!from) {
        FAIL(from.error().text);
    }
    return *std::move(from);
}

inline void must(store::result<void>&& from) {
    if (!from) {
        FAIL(from.error().text);
    }
}

template <typename Value>
fault fault_of(const store::result<Value>& from) {
    REQUIRE(!from);
    CHECK(!from.error().text.empty());
    CHECK(from.error().text.find('\n') == std::string::npos);
    return from.error().what;
}

constexpr store::fields everything{.embedding = true, .attributes = true};

[[nodiscard]] inline store::query
nearest(std::span<const float> to, std::size_t limit = 10, bool exact = false) {
    return {.embedding = to, .limit = limit, .filter = {}, .exact = exact};
}

// Until nothing is left; returns the number of calls.
int clear_all(store::store& at, const std::string& name, std::uint32_t part);

// The document, or an empty one (no key) when it is not there.
[[nodiscard]] stored one(store::store& at, const std::string& name, const key& wanted);

// Compares a document as it was written with what the store gives back; the embedding within 16
// bits' precision if `half`, and by direction where the store normalises.
void check_same(
    const document& written,
    const stored& found,
    const store::abilities& able,
    bool half = false
);

// Identifying numbers of `id bigint` keys, sorted.
template <typename Items>
std::vector<std::int64_t> ids_of(const Items& items) {
    std::vector<std::int64_t> ids;
    for (const auto& each : items) {
        ids.push_back(std::get<std::int64_t>(each.key.at(0)));
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

}  // namespace weir::stores
