// A YAML text as a tree of plain nodes with places. The only file that knows yaml-cpp is
// document.cpp.
#pragma once

#include "config/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

enum class node_kind : std::uint8_t { null, scalar, list, map };

struct node {
    node_kind kind = node_kind::null;
    place at;          // where the value starts
    std::string text;  // of a scalar, as written, quotes resolved
    std::string key;   // of an entry in a map
    place key_at;      // where that key starts
    std::vector<node>
        children;  // of a list in order, of a map in the order of the text, duplicates kept
};

// "nothing", "text", "a list" or "a mapping".
[[nodiscard]] std::string_view to_string(node_kind kind);

struct parsed_document {
    node root;
    std::vector<error> errors;  // when not empty, the root means nothing
};

// Accepts one document; anchors and aliases are resolved (bounded), tags are refused.
// Never throws for bad input, and quotes nothing from the text in its errors.
[[nodiscard]] parsed_document parse_document(std::string_view yaml, const std::string& file_name);

}  // namespace weir::config
