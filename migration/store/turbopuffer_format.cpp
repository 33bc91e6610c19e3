#include "migration/store/turbopuffer_format.hpp"

#include "migration/store/filter.hpp"

namespace weir::migration::store::tpuf {
namespace {

using test = condition::test;

std::string_view type_of(value_kind kind) {
    switch (kind) {
    case value_kind::boolean: return "bool";
    case value_kind::integer:
    case value_kind::timestamp:
    case value_kind::date: return "int";  // its own datetime has milliseconds only
    case value_kind::real:
    case value_kind::numeric: return "float";
    case value_kind::uuid: return "uuid";
    case value_kind::text:
    case value_kind::json: break;
    }
    return "string";
}

std::string_view id_type(id_kind kind) {
    return kind == id_kind::number ? "uint" : kind == id_kind::uuid ? "uuid" : "string";
}

std::string_view operator_name(test op) {
    switch (op) {
    case test::less: return "Lt";
    case test::less_equal: return "Lte";
    case test::greater: return "Gt";
    case test::greater_equal: return "Gte";
    case test::equal:
    case test::is_null: break;
    }
    return "Eq";
}

struct operand_writer {
    json_writer& out;

    void operator()(bool what) const { out.boolean(what); }

    void operator()(std::int64_t what) const { out.integer(what); }

    void operator()(double what) const { out.real(what); }

    void operator()(const std::string& what) const { out.string(what); }
};

void write_null_test(json_writer& out, const std::string& name, std::string_view op) {
    out.begin_array();
    out.string(name);
    out.string(op);
    out.null();
    out.end_array();
}

void write_condition(json_writer& out, const bound& what, const std::string& name) {
    if (what.op == test::is_null) {
        write_null_test(out, name, "Eq");
        return;
    }
    if (what.op == test::less || what.op == test::less_equal) {
        write_null_test(out, name, "NotEq");
    }
    out.begin_array();
    out.string(name);
    out.string(operator_name(what.op));
    std::visit(operand_writer{out}, what.operand);
    out.end_array();
}

}  // namespace

std::string_view metric_name(metric what) {
    return what == metric::l2 ? "euclidean_squared" : "cosine_distance";
}

std::string vector_type(const layout& what) {
    return "[" + std::to_string(what.dimensions) + (what.half ? "]f16" : "]f32");
}

std::vector<attribute_type> attribute_types(const layout& what, const attribute_codec& codec) {
    std::vector<attribute_type> all{
        {std::string(version_name), "string", true},
        {std::string(part_name), "uint", true}};
    if (codec.ids().stores_keys()) {
        all.push_back({std::string(key_name), "string", false});
    }
    for (std::size_t i = 0; i < what.attributes.size(); ++i) {
        const auto kind = what.attributes[i].kind;
        all.push_back({codec.name(i), std::string(type_of(kind)), kind != value_kind::json});
        if (!codec.exact_name(i).empty()) {
            all.push_back({codec.exact_name(i), "string", false});
        }
    }
    return all;
}

std::string schema_of(const layout& what, const attribute_codec& codec, bool whole) {
    json_writer out;
    out.begin_object();
    if (whole) {
        out.name("id");
        out.string(id_type(codec.ids().kind()));
        out.name("vector");
        out.begin_object();
        out.name("type");
        out.string(vector_type(what));
        out.name("ann");
        out.boolean(true);
        out.end_object();
    }
    for (const auto& each : attribute_types(what, codec)) {
        out.name(each.name);
        out.begin_object();
        out.name("type");
        out.string(each.type);
        out.name("filterable");
        out.boolean(each.filterable);
        out.end_object();
    }
    out.end_object();
    return out.text();
}

void write_id(json_writer& out, const document_id& id) {
    if (const auto* number = std::get_if<std::uint64_t>(&id)) {
        out.unsigned_integer(*number);
    } else {
        out.string(std::get<std::string>(id));
    }
}

void write_ids_filter(json_writer& out, std::span<const document_id> ids) {
    out.begin_array();
    out.string("id");
    out.string("In");
    out.begin_array();
    for (const auto& each : ids) {
        write_id(out, each);
    }
    out.end_array();
    out.end_array();
}

void write_version_limit(json_writer& out, const version& limit) {
    out.begin_array();
    out.string(version_name);
    out.string("Lte");
    out.string(to_text(limit));
    out.end_array();
}

filter_text_result
filter_of(const std::vector<condition>& all, const layout& what, const attribute_codec& codec) {
    if (all.empty()) {
        return {};
    }
    json_writer out;
    out.begin_array();
    out.string("And");
    out.begin_array();
    bool never = false;
    for (const auto& each : all) {
        const auto bound = bound_of(each, what, codec.longest_text());
        if (bound.is == bound::state::foreign ||
            what.attributes[each.attribute].kind == value_kind::json) {
            return {.is = filter_state::foreign};
        }
        never = never || bound.is == bound::state::never;
        if (!never) {
            write_condition(out, bound, codec.name(each.attribute));
        }
    }
    out.end_array();
    out.end_array();
    return never ? filter_text_result{.is = filter_state::never}
                 : filter_text_result{.json = out.text()};
}

}  // namespace weir::migration::store::tpuf
