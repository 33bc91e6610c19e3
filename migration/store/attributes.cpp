#include "migration/store/attributes.hpp"

#include "migration/store/json_reader.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace weir::migration::store {
namespace {

namespace json = boost::json;
using reals = std::numeric_limits<double>;

constexpr std::string_view reserved = "pgweir_";
constexpr std::string_view exact_prefix = "pgweir_exact_";
constexpr std::string_view renamed_prefix = "pgweir_attribute_";

bool may_have_exact(value_kind kind, std::size_t longest_text) {
    return kind == value_kind::real || kind == value_kind::numeric ||
           (kind == value_kind::text && longest_text > 0);
}

// What stands beside the attribute, if anything does.
std::optional<std::string>
exact_text(const value& what, value_kind kind, std::size_t longest_text) {
    if (const auto* number = std::get_if<double>(&what)) {
        if (std::isfinite(*number)) {
            return std::nullopt;
        }
        return std::isnan(*number) ? "NaN" : *number < 0 ? "-Infinity" : "Infinity";
    }
    const auto* text = std::get_if<std::string>(&what);
    if (text == nullptr) {
        return std::nullopt;
    }
    if (kind == value_kind::numeric ||
        (kind == value_kind::text && longest_text > 0 && text->size() > longest_text)) {
        return *text;
    }
    return std::nullopt;
}

// The number that a numeric's text stands for. PostgreSQL writes it without an exponent.
double number_from(std::string_view text) {
    double read = 0;
    const auto fault = std::from_chars(text.data(), text.data() + text.size(), read).ec;
    if (fault == std::errc::result_out_of_range) {
        const bool negative = text.starts_with('-');
        const auto digits = text.substr(negative ? 1 : 0, text.find('.'));
        const bool large = digits.size() > 300;
        read = large ? reals::infinity() : 0.0;
        return negative ? -read : read;
    }
    return read;
}

struct value_writer {
    json_writer& out;
    value_kind kind;
    std::size_t longest_text;

    void operator()(std::monostate) const { out.null(); }

    void operator()(bool what) const { out.boolean(what); }

    void operator()(std::int64_t what) const { out.integer(what); }

    void operator()(double what) const { out.real(filter_number(what)); }

    void operator()(const std::string& what) const {
        if (kind == value_kind::numeric) {
            out.real(filter_number(what));
        } else if (kind == value_kind::text) {
            out.string(filter_text(what, longest_text));
        } else {
            out.string(what);
        }
    }
};

double real_from_text(std::string_view text) {
    if (text == "NaN") {
        return reals::quiet_NaN();
    }
    return text == "-Infinity" ? -reals::infinity() : reals::infinity();
}

}  // namespace

std::string stored_name(std::string_view column) {
    const bool plain = !column.starts_with(reserved) && !column.starts_with('$') &&
                       column != "id" && column != "vector" &&
                       std::none_of(column.begin(), column.end(), [](char each) {
                           return (each >= 0 && each < ' ') ||
                                  std::string_view("\"\\[].").find(each) != std::string_view::npos;
                       });
    if (plain && !column.empty()) {
        return std::string(column);
    }
    constexpr std::string_view hex = "0123456789abcdef";
    std::string made(renamed_prefix);
    for (const char each : column) {
        const auto byte = static_cast<unsigned char>(each);
        if (std::isalnum(byte) != 0 && byte < 0x80) {
            made += each;
        } else {
            made += '_';
            made += hex[byte >> 4];
            made += hex[byte & 15];
        }
    }
    return made;
}

double filter_number(const value& what) {
    double number = 0;
    if (const auto* real = std::get_if<double>(&what)) {
        number = *real;
    } else if (const auto* integer = std::get_if<std::int64_t>(&what)) {
        number = static_cast<double>(*integer);
    } else if (const auto* text = std::get_if<std::string>(&what)) {
        number = number_from(*text);
    }
    if (std::isnan(number)) {
        return reals::max();
    }
    return std::clamp(number, reals::lowest(), reals::max());
}

std::string_view filter_text(std::string_view text, std::size_t limit) {
    if (limit == 0 || text.size() <= limit) {
        return text;
    }
    auto end = limit;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
        --end;
    }
    return text.substr(0, end);
}

attribute_codec::attribute_codec(const layout& what, id_map ids, std::size_t longest_text)
    : columns_(what.attributes), ids_(std::move(ids)), longest_text_(longest_text) {
    for (const auto& each : columns_) {
        names_.push_back(stored_name(each.name));
        exact_names_.push_back(
            may_have_exact(each.kind, longest_text_) ? std::string(exact_prefix) + names_.back()
                                                     : std::string()
        );
    }
}

void attribute_codec::write(json_writer& out, const document& what, bool nulls) const {
    out.name(version_name);
    out.string(to_text(what.version));
    out.name(part_name);
    out.unsigned_integer(what.part);
    if (ids_.is_digest(what.key)) {
        out.name(key_name);
        out.string(canonical_text(what.key));
    }
    for (std::size_t i = 0; i < columns_.size() && i < what.attributes.size(); ++i) {
        const auto& attribute = what.attributes[i];
        if (nulls || !is_null(attribute)) {
            out.name(names_[i]);
            std::visit(value_writer{out, columns_[i].kind, longest_text_}, attribute);
        }
        if (exact_names_[i].empty()) {
            continue;
        }
        if (const auto exact = exact_text(attribute, columns_[i].kind, longest_text_)) {
            out.name(exact_names_[i]);
            out.string(*exact);
        } else if (nulls) {
            out.name(exact_names_[i]);
            out.null();
        }
    }
}

value attribute_codec::read_one(const json::object& from, std::size_t attribute) const {
    const auto find = [&from](const std::string& name) {
        return name.empty() ? nullptr : from.if_contains(name);
    };
    const auto kind = columns_[attribute].kind;
    if (const auto exact = text_of(find(exact_names_[attribute]))) {
        return kind == value_kind::real ? value(real_from_text(*exact))
                                        : value(std::string(*exact));
    }
    const auto* const found = find(names_[attribute]);
    switch (kind) {
    case value_kind::boolean:
        return found != nullptr && found->is_bool() ? value(found->get_bool()) : value();
    case value_kind::integer:
    case value_kind::timestamp:
    case value_kind::date: {
        const auto number = integer_of(found);
        return number ? value(*number) : value();
    }
    case value_kind::real: {
        const auto number = number_of(found);
        return number ? value(*number) : value();
    }
    case value_kind::numeric: return {};  // it has always an exact text
    case value_kind::text:
    case value_kind::uuid:
    case value_kind::json: break;
    }
    const auto text = text_of(found);
    return text ? value(std::string(*text)) : value();
}

bool attribute_codec::read(
    const json::object& from,
    const document_id& id,
    bool attributes,
    stored& into
) const {
    const auto text = [&from](std::string_view name) {
        return text_of(from.if_contains({name.data(), name.size()})).value_or("");
    };
    auto key = ids_.key_of(id, text(key_name));
    const auto version = parse_version(text(version_name));
    if (!key || !version) {
        return false;
    }
    into.key = *std::move(key);
    into.version = *version;
    const auto part = unsigned_of(from.if_contains({part_name.data(), part_name.size()}));
    into.part = static_cast<std::uint32_t>(part.value_or(0));
    if (attributes) {
        into.attributes.clear();
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            into.attributes.push_back(read_one(from, i));
        }
    }
    return true;
}

std::vector<std::string> attribute_codec::names(bool attributes) const {
    std::vector<std::string> all{std::string(version_name), std::string(part_name)};
    if (ids_.stores_keys()) {
        all.emplace_back(key_name);
    }
    if (attributes) {
        all.insert(all.end(), names_.begin(), names_.end());
        std::copy_if(
            exact_names_.begin(),
            exact_names_.end(),
            std::back_inserter(all),
            [](const std::string& name) { return !name.empty(); }
        );
    }
    return all;
}

}  // namespace weir::migration::store
