// The interface of vector stores. Adapters: turbopuffer, qdrant, chroma, postgres; all pass the
// same contract test.
#pragma once

#include "migration/document.hpp"
#include "migration/store/error.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::store {

// Named after what pgvector's operators compute.
enum class metric : std::uint8_t { cosine, l2, inner_product };

// What all documents of a migration look like.
struct layout {
    std::vector<column> key;
    std::vector<column> attributes;
    std::size_t dimensions = 0;
    store::metric metric = metric::cosine;
    bool half = false;  // the source column is halfvec: 16 bits for each number are enough
};

struct abilities {
    // upsert, patch and remove leave a newer document alone in one step with the write. Where this
    // is false, the caller has to be the only writer of a key and to look with fetch() first.
    bool conditional = false;
    bool patches = true;            // attributes can be written without the embedding
    bool normalises = false;        // embeddings come back with length 1
    bool exact_search = true;       // search can be told not to approximate
    std::size_t max_documents = 0;  // in one call; larger ones are the caller's to split
    std::size_t max_bytes = 0;      // of one request's body, about
    unsigned max_parallel = 1;      // useful number of writers at once
};

struct fields {
    bool embedding = false;
    bool attributes = false;
};

// Documents that a write met with a newer version are counted, and are no error.
struct written {
    std::uint64_t applied = 0;
    std::uint64_t bytes = 0;             // of the request's body
    std::vector<migration::key> absent;  // patch: keys that have no document
};

// A comparison of one attribute. Comparisons with NULL are false, as in SQL; `is_null` is not.
struct condition {
    enum class test : std::uint8_t { equal, less, less_equal, greater, greater_equal, is_null };
    std::size_t attribute = 0;  // index in layout::attributes
    test op = test::equal;
    value operand{};
};

struct query {
    std::span<const float> embedding;
    std::size_t limit = 10;
    std::vector<condition> filter;  // all must hold
    bool exact = false;
};

// `distance` is pgvector's own for the layout's metric (<=>, <->, <#>).
struct hit {
    migration::key key;
    double distance = 0;
};

// `next` is empty at the end, else to be given to the next call. Each document that is there all
// the time is returned once; others may be missed or be returned.
struct page {
    std::vector<stored> documents;
    std::string next;
};

// Threads: one at a time for each object; each writer has its own. Calls block, at most for the
// configured time-outs. Nothing is retried inside, but for a connection that was found closed
// before a byte of the answer came. A namespace is made by ensure() before it is written; names are
// those of the caller, and an adapter whose store cannot hold them refuses them there.
class store {
public:
    store() = default;
    store(const store&) = delete;
    store& operator=(const store&) = delete;
    virtual ~store() = default;

    [[nodiscard]] virtual const abilities& able() const = 0;

    // Makes it if it is not there; refused if it is there with other dimensions or another metric.
    // Never drops anything.
    [[nodiscard]] virtual result<void> ensure(const std::string& name) = 0;

    // No key twice in one call (the store may refuse that). A document whole, with what is not
    // given removed.
    [[nodiscard]] virtual result<written>
    upsert(const std::string& name, std::span<const document> documents) = 0;

    // All attributes, the version and the part, not the embedding; only where the document is.
    [[nodiscard]] virtual result<written>
    patch(const std::string& name, std::span<const document> documents) = 0;

    // What is not there is no error.
    [[nodiscard]] virtual result<written>
    remove(const std::string& name, std::span<const removal> removals) = 0;

    // Removes documents (of one partition, or of any where `part` is 0), whatever their versions:
    // as many as go in about one request. True: there may be more, call it again.
    [[nodiscard]] virtual result<bool> clear(const std::string& name, std::uint32_t part) = 0;

    // Keys without a document are left out; the order is any.
    [[nodiscard]] virtual result<std::vector<stored>>
    fetch(const std::string& name, std::span<const key> keys, fields wanted) = 0;

    // In the store's own order; `after` is empty at first.
    [[nodiscard]] virtual result<page>
    scan(const std::string& name, const std::string& after, std::size_t limit, fields wanted) = 0;

    [[nodiscard]] virtual result<std::uint64_t> count(const std::string& name) = 0;

    [[nodiscard]] virtual result<std::vector<hit>>
    search(const std::string& name, const query& what) = 0;

    // Builds what makes searches quick, where the store does not do so by itself; to be called when
    // the copy is over. May take hours; writes go on meanwhile (by other objects).
    [[nodiscard]] virtual result<void> index(const std::string& /*name*/) { return {}; }

    // Those that begin with `prefix`, sorted.
    [[nodiscard]] virtual result<std::vector<std::string>> namespaces(std::string_view prefix) = 0;
};

}  // namespace weir::migration::store
