// A migration as it is to be carried out: the YAML's intent with what the source says about it.
#pragma once

#include "migration/store/store.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::migration {

enum class capture_kind : std::uint8_t { wal, outbox };
enum class acknowledge_kind : std::uint8_t { async, store };

// Part of a namespace's name: fixed text, then the value of the tenant (unless it is the last
// part).
struct namespace_pattern {
    std::string before;
    bool tenant = false;
    std::string after;
};

struct plan {
    std::string name;
    std::string schema;
    std::string table;
    std::uint32_t table_oid = 0;
    std::string embedding;              // name of the column
    store::layout layout;               // key, attributes, dimensions, metric
    std::optional<std::size_t> tenant;  // index in layout.attributes
    // The tenant is one of the key's columns: its index there, and it is known for every delete.
    std::optional<std::size_t> tenant_in_key;
    namespace_pattern name_of;
    bool partitioned = false;
    capture_kind capture = capture_kind::wal;
    acknowledge_kind acknowledge = acknowledge_kind::async;
    std::chrono::milliseconds acknowledge_timeout{5000};
    std::uint64_t max_retained_wal = 0;  // bytes; 0: no limit
};

// The namespace of a row with this tenant, e.g. "org-17". Letters, digits, '-' and '.' of the
// tenant stay, '_' is doubled, other bytes become "_xx" in hexadecimal.
[[nodiscard]] std::string namespace_of(const plan& what, const value& tenant);

// For logs, lists and dead letters: "17"; a key of several columns "(17,a)"; "NULL". Times are
// numbers, see value_kind.
[[nodiscard]] std::string to_text(const value& what);
[[nodiscard]] std::string to_text(const key& what);

// A key from the texts of its values, as to_text(value) writes them; nothing if one is none of its
// column's.
[[nodiscard]] std::optional<key>
key_of(const std::vector<std::string>& texts, const std::vector<column>& columns);

}  // namespace weir::migration
