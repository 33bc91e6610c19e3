// libpg_query's parse tree: who owns it, and how to look at it without knowing every node type.
// Internal to routing: the node types come from <pg_query/pg_query.pb-c.h>, one version per
// PostgreSQL release.
#pragma once

#include "routing/traits.hpp"

#include <pg_query/pg_query.pb-c.h>

#include <memory>
#include <string>
#include <string_view>

namespace weir::routing {

using tree_message = ProtobufCMessage;
using tree_node = PgQuery__Node;

struct tree_deleter {
    void operator()(PgQuery__ParseResult* tree) const noexcept;
};

using tree_ptr = std::unique_ptr<PgQuery__ParseResult, tree_deleter>;

struct parsed_tree {
    tree_ptr tree;      // null if the parser refused the text
    std::string error;  // the parser's message then
};

// Any thread, several at a time: libpg_query keeps its state per thread and frees it when the
// thread ends. The text must be valid for nesting_bound (sql_depth.hpp): building a deep tree takes
// stack in proportion.
[[nodiscard]] parsed_tree parse_tree(const std::string& sql);

// The string in a String node; empty for every other node and for null.
[[nodiscard]] std::string_view text_of(const tree_node* node) noexcept;

// The last and the last but one part of a qualified name, given as a list of String nodes.
[[nodiscard]] relation_name qualified_name(tree_node* const* parts, std::size_t count);

// A constant's string; false if the node is no string constant. Casts are not looked through.
[[nodiscard]] bool string_constant(const tree_node* node, std::string_view& out) noexcept;

[[nodiscard]] inline std::string_view view(const char* text) noexcept {
    return text == nullptr ? std::string_view{} : std::string_view{text};
}

[[nodiscard]] inline bool
is_type(const tree_message& message, const ProtobufCMessageDescriptor& type) noexcept {
    return message.descriptor == &type;
}

// Typed view of a message whose descriptor was checked.
template <class T>
[[nodiscard]] const T& as(const tree_message& message) noexcept {
    return reinterpret_cast<const T&>(message);
}

// What a Node wrapper holds; null for null and for an empty wrapper.
[[nodiscard]] const tree_message* content(const tree_node* node) noexcept;

// The children of a message: sub-messages of every field, in the order of the fields, Node wrappers
// taken off.
class children {
public:
    explicit children(const tree_message& parent) noexcept : parent_(&parent) {}

    // The next child, or null at the end.
    [[nodiscard]] const tree_message* next() noexcept;

private:
    [[nodiscard]] const tree_message* from_field(const ProtobufCFieldDescriptor& field) noexcept;

    const tree_message* parent_;
    unsigned field_ = 0;
    std::size_t element_ = 0;
};

}  // namespace weir::routing
