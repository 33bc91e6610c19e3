#include "migration/store/qdrant_format.hpp"

#include "migration/store/filter.hpp"

#include <algorithm>

namespace weir::migration::store::qdr {
namespace {

using test = condition::test;

// Ranges are compared as doubles, to which no other integer is rounded below this one.
constexpr std::int64_t exact_integer = std::int64_t{1} << 53;

std::string_view range_name(test op) {
    switch (op) {
    case test::less: return "lt";
    case test::less_equal: return "lte";
    case test::greater: return "gt";
    case test::greater_equal:
    case test::equal:
    case test::is_null: break;
    }
    return "gte";
}

test with_equal(test op) {
    return op == test::less ? test::less_equal : op == test::greater ? test::greater_equal : op;
}

void begin_condition(json_writer& out, const std::string& path, std::string_view kind) {
    out.begin_object();
    out.name("key");
    out.string(path);
    out.name(kind);
    out.begin_object();
}

void end_condition(json_writer& out) {
    out.end_object();
    out.end_object();
}

void write_empty(json_writer& out, const std::string& path) {
    out.begin_object();
    out.name("is_empty");
    out.begin_object();
    out.name("key");
    out.string(path);
    out.end_object();
    out.end_object();
}

// Fractions have no "match": equality is a range of one number.
void write_number(json_writer& out, const bound& what, double operand, const std::string& path) {
    begin_condition(out, path, "range");
    if (what.op == test::equal) {
        out.name("gte");
        out.real(operand);
        out.name("lte");
    } else {
        out.name(range_name(what.op));
    }
    out.real(operand);
    end_condition(out);
}

void write_integer(
    json_writer& out,
    const bound& what,
    std::int64_t operand,
    const std::string& path
) {
    if (what.op == test::equal) {
        begin_condition(out, path, "match");
        out.name("value");
        out.integer(operand);
        end_condition(out);
        return;
    }
    // Rounding keeps the order, so that < becomes <= at worst.
    const bool exact = operand < exact_integer && operand > -exact_integer;
    begin_condition(out, path, "range");
    out.name(range_name(exact ? what.op : with_equal(what.op)));
    out.real(static_cast<double>(operand));
    end_condition(out);
}

// False: Qdrant has no such condition.
bool write_condition(json_writer& out, const bound& what, const std::string& path) {
    if (what.op == test::is_null) {
        write_empty(out, path);  // null or absent
        return true;
    }
    if (const auto* integer = std::get_if<std::int64_t>(&what.operand)) {
        write_integer(out, what, *integer, path);
        return true;
    }
    if (const auto* number = std::get_if<double>(&what.operand)) {
        write_number(out, what, *number, path);
        return true;
    }
    if (what.op != test::equal) {
        return false;
    }
    begin_condition(out, path, "match");
    out.name("value");
    if (const auto* flag = std::get_if<bool>(&what.operand)) {
        out.boolean(*flag);
    } else {
        out.string(std::get<std::string>(what.operand));
    }
    end_condition(out);
    return true;
}

}  // namespace

std::string_view metric_name(metric what) {
    switch (what) {
    case metric::cosine: return "Cosine";
    case metric::l2: return "Euclid";
    case metric::inner_product: break;
    }
    return "Dot";
}

std::string_view datatype(const layout& what) {
    return what.half ? "float16" : "float32";
}

std::optional<std::string_view> index_type(value_kind kind) {
    switch (kind) {
    case value_kind::boolean: return "bool";
    case value_kind::integer:
    case value_kind::timestamp:
    case value_kind::date: return "integer";
    case value_kind::real:
    case value_kind::numeric: return "float";
    case value_kind::uuid: return "uuid";
    case value_kind::text: return "keyword";
    case value_kind::json: break;
    }
    return std::nullopt;
}

std::string payload_path(std::string_view name) {
    const bool plain = std::all_of(name.begin(), name.end(), [](char each) {
        return (each >= '0' && each <= '9') || (each >= 'A' && each <= 'Z') ||
               (each >= 'a' && each <= 'z') || each == '-' || each == '_';
    });
    return plain ? std::string(name) : '"' + std::string(name) + '"';
}

void write_id(json_writer& out, const document_id& id) {
    if (const auto* number = std::get_if<std::uint64_t>(&id)) {
        out.unsigned_integer(*number);
    } else {
        out.string(std::get<std::string>(id));
    }
}

double distance_of(metric what, double score) {
    switch (what) {
    case metric::l2: return score;
    case metric::cosine: return 1 - score;
    case metric::inner_product: break;
    }
    return -score;
}

filter_text_result
filter_of(const std::vector<condition>& all, const layout& what, const attribute_codec& codec) {
    if (all.empty()) {
        return {};
    }
    json_writer out;
    out.begin_object();
    out.name("must");
    out.begin_array();
    bool never = false;
    for (const auto& each : all) {
        const auto bound = bound_of(each, what, codec.longest_text());
        if (bound.is == bound::state::foreign) {
            return {.is = filter_state::foreign};
        }
        never = never || bound.is == bound::state::never;
        if (!never && !write_condition(out, bound, payload_path(codec.name(each.attribute)))) {
            return {.is = filter_state::foreign};
        }
    }
    out.end_array();
    out.end_object();
    return never ? filter_text_result{.is = filter_state::never}
                 : filter_text_result{.json = out.text()};
}

}  // namespace weir::migration::store::qdr
