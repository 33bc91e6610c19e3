// Ids of documents: what a store calls the row with a key. The same key always has the same id; two
// keys never share one, short of a collision of SHA-1.
#pragma once

#include "migration/value.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weir::migration::store {

// A number, a UUID of 36 characters in lower case, or a text, as id_map::kind() says.
using document_id = std::variant<std::uint64_t, std::string>;

// What a store takes as ids. All take UUIDs, at least as texts.
struct id_rules {
    bool numbers = false;          // unsigned, 64 bits
    std::size_t longest_text = 0;  // bytes; 0: no texts
};

enum class id_kind : std::uint8_t { number, uuid, text };

// The key as a text that is different for different keys: a JSON array, "[17,\"a\"]". Numbers that
// JSON has not (infinity) are strings.
[[nodiscard]] std::string canonical_text(const key& what);
// The other way; nullopt if it is not the text of a key with these columns.
[[nodiscard]] std::optional<key>
key_from_text(std::string_view text, const std::vector<column>& columns);

// RFC 4122 section 4.3, version 5, in a namespace of pgweir's own.
[[nodiscard]] std::string uuid_of(std::string_view name);

// All ids of a namespace are of one kind, because some stores do not take two kinds together:
//   one integer column   the number itself; negative ones as in two's complement, so that -1 is
//                        18446744073709551615. Where a store has no numbers: its digits.
//   one uuid column      the uuid
//   one text column      the text, where the store takes texts and it is short, not empty and does
//                        not begin with '~'; any other one "~" and a UUIDv5
//   all others           a UUIDv5 of the canonical text
class id_map {
public:
    id_map(std::vector<column> columns, id_rules rules);

    [[nodiscard]] id_kind kind() const noexcept { return kind_; }

    // Of some keys the id is a digest, and the canonical text must be stored beside it.
    [[nodiscard]] bool stores_keys() const noexcept { return digest_; }

    [[nodiscard]] document_id id_of(const key& what) const;

    // Whether id_of() is a digest for this key.
    [[nodiscard]] bool is_digest(const key& what) const;

    // The key of a document. `beside` is what was stored there; empty: nothing.
    [[nodiscard]] std::optional<key> key_of(const document_id& id, std::string_view beside) const;

private:
    [[nodiscard]] bool fits(const std::string& text) const;

    std::vector<column> columns_;
    id_rules rules_;
    id_kind kind_ = id_kind::uuid;
    bool digest_ = true;
};

}  // namespace weir::migration::store
