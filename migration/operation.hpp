// What a change of the source asks of the store, and how operations on one document add up. Pure.
#pragma once

#include "migration/change.hpp"
#include "migration/plan.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir::migration {

// How many of a page's operations are still to be carried out.
class receipt {
public:
    explicit receipt(std::size_t left) : left_(left) {}

    // True for the last one.
    bool one_done() { return left_.fetch_sub(1) == 1; }

    [[nodiscard]] bool complete() const { return left_ == 0; }

private:
    std::atomic<std::size_t> left_;
};

struct operation {
    enum class kind : std::uint8_t {
        upsert,  // the whole document is known
        patch,   // attributes are known, the embedding has not changed
        reread,  // the row is to be read again from the source, and written or removed
        remove,
    };
    kind what = kind::upsert;
    std::string space;  // the namespace
    migration::document document;
    bool copied = false;            // from a page of the copy: see writer.hpp
    std::shared_ptr<receipt> page;  // that page's, else none
    bool guarded = false;           // to be held against the store's version first, if it cannot
    std::uint32_t transaction = 0;  // whose end must be visible before the row is read again
    std::uint64_t ticket = 0;       // see watermark.hpp
};

// In the order in which they are to be carried out. Nothing for `emptied` and `unusable`, which the
// runner handles itself.
[[nodiscard]] std::vector<operation> operations_of(const plan& what, change&& from);

// The operation for a row that a page of the copy holds; none if its embedding is NULL.
[[nodiscard]] std::vector<operation>
operations_of_copied(const plan& what, source_row&& row, const version& at);

// Bytes that it takes in a queue, about.
[[nodiscard]] std::size_t size_of(const operation& what);

// A key as bytes that differ for different keys, for hashing and for maps.
[[nodiscard]] std::string identity(const key& what);

// Operations in order become at most one for each document, in the order of their first.
[[nodiscard]] std::vector<operation> collapsed(std::vector<operation>&& all);

}  // namespace weir::migration
