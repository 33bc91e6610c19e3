#include "routing/trait_cache.hpp"

#include <string>
#include <utility>
#include <vector>

namespace weir::routing {

namespace {

std::size_t heap_of(const std::string& text) noexcept {
    // Texts up to the capacity of an empty one lie inside the string itself.
    return text.capacity() <= std::string{}.capacity() ? 0 : text.capacity() + 1;
}

std::size_t heap_of(const relation_name& name) noexcept {
    return heap_of(name.schema) + heap_of(name.name);
}

std::size_t heap_of(const setting_effect& effect) noexcept {
    return heap_of(effect.name) + heap_of(effect.value);
}

template <class T>
std::size_t heap_of(const std::vector<T>& list) noexcept {
    auto bytes = list.capacity() * sizeof(T);
    for (const auto& element : list) {
        bytes += heap_of(element);
    }
    return bytes;
}

}  // namespace

std::size_t memory_of(const traits& value) noexcept {
    return sizeof value + heap_of(value.relations) + heap_of(value.functions) +
           heap_of(value.operators) + heap_of(value.types) + heap_of(value.settings) +
           heap_of(value.savepoints) + heap_of(value.search.table) + heap_of(value.search.column) +
           heap_of(value.search.operator_name) + heap_of(value.own.name) + heap_of(value.own.value);
}

traits_ptr trait_cache::find(const shape& key) {
    const auto found = entries_.find({key.hi, key.lo});
    if (found == entries_.end() || found->second.guard != key.guard) {
        ++misses_;
        return nullptr;
    }
    ++hits_;
    auto& e = found->second;
    e.owner->remove(e);
    proven_.push(e);
    // Four fifths for the proven; their oldest must prove themselves again.
    while (proven_.bytes > bytes_max_ / 5 * 4 && proven_.oldest != nullptr && proven_.oldest != &e
    ) {
        auto& demoted = *proven_.oldest;
        proven_.remove(demoted);
        tried_.push(demoted);
    }
    return e.value;
}

traits_ptr trait_cache::insert(const shape& key, traits value) {
    // The map's node with its links, and its share of the table; the count of the shared pointer.
    constexpr std::size_t overhead =
        sizeof(std::pair<const key128, entry>) + 4 * sizeof(void*) + 2 * sizeof(void*);
    const bool keep = key.complete && value.kind != statement_kind::unparsed;
    auto held = std::make_shared<const traits>(std::move(value));
    const auto bytes = memory_of(*held) + overhead;
    if (!keep || bytes > bytes_max_) {
        return held;
    }
    auto& e = entries_[{key.hi, key.lo}];
    if (e.owner != nullptr) {
        e.owner->remove(e);
    }
    e.value = held;
    e.guard = key.guard;
    e.bytes = bytes;
    e.key = {key.hi, key.lo};
    tried_.push(e);
    shrink();
    return held;
}

void trait_cache::clear() noexcept {
    tried_ = {};
    proven_ = {};
    entries_.clear();
}

void trait_cache::limit(std::size_t bytes_max) {
    bytes_max_ = bytes_max;
    shrink();
}

// The newest entry of all is in tried_ when this is called by insert, and fits.
void trait_cache::shrink() {
    while (bytes() > bytes_max_) {
        const bool from_tried = tried_.oldest != nullptr &&
                                (tried_.oldest != tried_.newest || proven_.oldest == nullptr);
        erase(from_tried ? *tried_.oldest : *proven_.oldest);
    }
}

void trait_cache::erase(entry& e) {
    e.owner->remove(e);
    const auto key = e.key;
    entries_.erase(key);
}

void trait_cache::segment::push(entry& e) noexcept {
    e.owner = this;
    e.older = newest;
    e.newer = nullptr;
    (newest == nullptr ? oldest : newest->newer) = &e;
    newest = &e;
    bytes += e.bytes;
}

void trait_cache::segment::remove(entry& e) noexcept {
    (e.older == nullptr ? oldest : e.older->newer) = e.newer;
    (e.newer == nullptr ? newest : e.newer->older) = e.older;
    e.owner = nullptr;
    bytes -= e.bytes;
}

}  // namespace weir::routing
