// Traits by shape, so that a statement is parsed once per shape and worker.
#pragma once

#include "routing/shape.hpp"
#include "routing/traits.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace weir::routing {

// Held by the cache and by every prepared statement that was made from the text.
using traits_ptr = std::shared_ptr<const traits>;

// One per worker, not shared between threads. Bounded in bytes; keeps no SQL text. Evicts by use in
// two segments: an entry that was never found again goes before one that was, so a flood of texts
// used once does not empty the cache.
class trait_cache {
public:
    explicit trait_cache(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}

    trait_cache(const trait_cache&) = delete;
    trait_cache& operator=(const trait_cache&) = delete;
    trait_cache(trait_cache&&) = delete;
    trait_cache& operator=(trait_cache&&) = delete;
    ~trait_cache() = default;

    // Null if there is none. Counts as a use.
    [[nodiscard]] traits_ptr find(const shape& key);

    // Keeps the traits under the shape and returns them. Not kept, but returned all the same: those
    // of a text that was not parsed (a literal may be to blame, and a text of the same shape may
    // parse), of a shape that is not complete, and those larger than the cache.
    traits_ptr insert(const shape& key, traits value);

    void clear() noexcept;
    // A new limit, after a reload. Evicts down to it.
    void limit(std::size_t bytes_max);

    [[nodiscard]] std::uint64_t hits() const noexcept { return hits_; }

    [[nodiscard]] std::uint64_t misses() const noexcept { return misses_; }

    [[nodiscard]] std::size_t bytes() const noexcept { return tried_.bytes + proven_.bytes; }

    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

private:
    struct key128 {
        std::uint64_t hi = 0;
        std::uint64_t lo = 0;
        friend bool operator==(const key128&, const key128&) = default;
    };

    struct key_hash {
        std::size_t operator()(const key128& key) const noexcept {
            return static_cast<std::size_t>(key.lo);
        }
    };

    struct segment;

    struct entry {
        traits_ptr value;
        std::uint64_t guard = 0;
        std::size_t bytes = 0;
        key128 key;
        segment* owner = nullptr;
        entry* older = nullptr;
        entry* newer = nullptr;
    };

    // A list in order of use; the entries live in the map.
    struct segment {
        entry* oldest = nullptr;
        entry* newest = nullptr;
        std::size_t bytes = 0;

        void push(entry& e) noexcept;
        void remove(entry& e) noexcept;
    };

    void erase(entry& e);
    void shrink();

    std::unordered_map<key128, entry, key_hash> entries_;
    segment tried_;   // not found since they came
    segment proven_;  // found at least once
    std::size_t bytes_max_;
    std::uint64_t hits_ = 0;
    std::uint64_t misses_ = 0;
};

// What the traits take in memory, themselves included.
[[nodiscard]] std::size_t memory_of(const traits& value) noexcept;

}  // namespace weir::routing
