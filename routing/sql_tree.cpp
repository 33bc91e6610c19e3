#include "routing/sql_tree.hpp"

#include <pg_query.h>

namespace weir::routing {

namespace {

struct raw_result {
    explicit raw_result(const std::string& sql) : value(pg_query_parse_protobuf(sql.c_str())) {}

    ~raw_result() { pg_query_free_protobuf_parse_result(value); }

    raw_result(const raw_result&) = delete;
    raw_result& operator=(const raw_result&) = delete;
    raw_result(raw_result&&) = delete;
    raw_result& operator=(raw_result&&) = delete;

    PgQueryProtobufParseResult value;
};

// A field of a message by its description.
template <class T>
const T& load(const tree_message& message, std::size_t offset) noexcept {
    return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(&message) + offset);
}

}  // namespace

void tree_deleter::operator()(PgQuery__ParseResult* tree) const noexcept {
    pg_query__parse_result__free_unpacked(tree, nullptr);
}

parsed_tree parse_tree(const std::string& sql) {
    const raw_result raw(sql);
    parsed_tree result;
    if (raw.value.error != nullptr) {
        result.error = view(raw.value.error->message);
        return result;
    }
    const auto& packed = raw.value.parse_tree;
    result.tree.reset(pg_query__parse_result__unpack(
        nullptr,
        packed.len,
        reinterpret_cast<const std::uint8_t*>(packed.data)
    ));
    if (!result.tree) {
        result.error = "parse tree cannot be unpacked";
    }
    return result;
}

std::string_view text_of(const tree_node* node) noexcept {
    if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_STRING) {
        return {};
    }
    return view(node->string->sval);
}

relation_name qualified_name(tree_node* const* parts, std::size_t count) {
    relation_name name;
    if (count > 0) {
        name.name = text_of(parts[count - 1]);
    }
    if (count > 1) {
        name.schema = text_of(parts[count - 2]);
    }
    return name;
}

bool string_constant(const tree_node* node, std::string_view& out) noexcept {
    if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_A_CONST) {
        return false;
    }
    const auto& constant = *node->a_const;
    if (constant.isnull != 0 || constant.val_case != PG_QUERY__A__CONST__VAL_SVAL) {
        return false;
    }
    out = view(constant.sval->sval);
    return true;
}

const tree_message* content(const tree_node* node) noexcept {
    if (node == nullptr || node->node_case == PG_QUERY__NODE__NODE__NOT_SET) {
        return nullptr;
    }
    return &node->alias->base;  // any member of the union: all are pointers to messages
}

const tree_message* children::next() noexcept {
    const auto& type = *parent_->descriptor;
    while (field_ < type.n_fields) {
        const auto* child = from_field(type.fields[field_]);
        if (child == nullptr) {
            ++field_;
            element_ = 0;
            continue;
        }
        if (is_type(*child, pg_query__node__descriptor)) {
            child = content(&as<tree_node>(*child));
        }
        if (child != nullptr) {
            return child;
        }
    }
    return nullptr;
}

// The next element of a field; null when the field holds no more. Leaves element_ behind the one
// returned.
const tree_message* children::from_field(const ProtobufCFieldDescriptor& field) noexcept {
    if (field.type != PROTOBUF_C_TYPE_MESSAGE) {
        return nullptr;
    }
    if (field.label == PROTOBUF_C_LABEL_REPEATED) {
        if (element_ >= load<std::size_t>(*parent_, field.quantifier_offset)) {
            return nullptr;
        }
        return load<tree_message* const*>(*parent_, field.offset)[element_++];
    }
    if (element_ > 0) {
        return nullptr;
    }
    const bool one_of_several = (field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    if (one_of_several && load<std::uint32_t>(*parent_, field.quantifier_offset) != field.id) {
        return nullptr;
    }
    ++element_;
    return load<const tree_message*>(*parent_, field.offset);
}

}  // namespace weir::routing
