#include "migration/plan.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace weir::migration {
namespace {

struct value_text {
    std::string operator()(std::monostate) const { return "NULL"; }

    std::string operator()(bool what) const { return what ? "true" : "false"; }

    std::string operator()(std::int64_t what) const { return std::to_string(what); }

    std::string operator()(double what) const {
        std::array<char, 32> text{};
        const auto end = std::to_chars(text.data(), text.data() + text.size(), what).ptr;
        return {text.data(), end};
    }

    std::string operator()(const std::string& what) const { return what; }
};

bool plain(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '.';
}

// An underscore is written "__", so that two tenants never share a namespace.
std::string in_name(std::string_view text) {
    std::string name;
    for (const char byte : text) {
        if (plain(byte)) {
            name += byte;
        } else if (byte == '_') {
            name += "__";
        } else {
            std::array<char, 4> hex{};
            // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): bounded
            std::snprintf(hex.data(), hex.size(), "_%02x", static_cast<unsigned char>(byte));
            name += hex.data();
        }
    }
    return name;
}

template <typename Number>
std::optional<value> number_of(const std::string& text) {
    Number read{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (fault != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value(read);
}

std::optional<value> value_of(const std::string& text, value_kind kind) {
    switch (kind) {
    case value_kind::boolean: return value(text == "true");
    case value_kind::integer:
    case value_kind::timestamp:
    case value_kind::date: return number_of<std::int64_t>(text);
    case value_kind::real: return number_of<double>(text);
    case value_kind::numeric:
    case value_kind::text:
    case value_kind::uuid:
    case value_kind::json: break;
    }
    return value(text);
}

}  // namespace

std::string namespace_of(const plan& what, const value& tenant) {
    if (!what.name_of.tenant) {
        return what.name_of.before;
    }
    return what.name_of.before + in_name(std::visit(value_text{}, tenant)) + what.name_of.after;
}

std::string to_text(const value& what) {
    return std::visit(value_text{}, what);
}

std::optional<key>
key_of(const std::vector<std::string>& texts, const std::vector<column>& columns) {
    if (texts.size() != columns.size()) {
        return std::nullopt;
    }
    key made;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        auto part = value_of(texts[i], columns[i].kind);
        if (!part) {
            return std::nullopt;
        }
        made.push_back(std::move(*part));
    }
    return made;
}

std::string to_text(const key& what) {
    if (what.size() == 1) {
        return to_text(what.front());
    }
    std::string text;
    for (const auto& part : what) {
        text += (text.empty() ? "(" : ",") + to_text(part);
    }
    return text + ")";
}

}  // namespace weir::migration
