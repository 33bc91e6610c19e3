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
