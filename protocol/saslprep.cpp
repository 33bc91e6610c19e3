#include "protocol/saslprep.hpp"

#include "protocol/unicode.hpp"
#include "protocol/unicode_tables.hpp"

#include <algorithm>
#include <optional>

namespace weir::protocol {
namespace {

struct tables {
    code_set to_space{unicode_tables::to_space};
    code_set to_nothing{unicode_tables::to_nothing};
    code_set prohibited{unicode_tables::prohibited};
    code_set right_to_left{unicode_tables::right_to_left};
    code_set left_to_right{unicode_tables::left_to_right};
};

bool is_ascii(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x80;
    });
}

std::u32string map(const tables& with, std::u32string_view codes) {
    std::u32string mapped;
    for (const char32_t code : codes) {
        if (with.to_space.contains(code)) {
            mapped.push_back(U' ');
        } else if (!with.to_nothing.contains(code)) {
            mapped.push_back(code);
        }
    }
    return mapped;
}

// RFC 3454 section 6: text from right to left holds no letters of the other direction, and begins
// and ends so.
bool directions_agree(const tables& with, std::u32string_view codes) {
    const auto is_right = [&](char32_t code) { return with.right_to_left.contains(code); };
    const auto is_left = [&](char32_t code) { return with.left_to_right.contains(code); };
    if (std::none_of(codes.begin(), codes.end(), is_right)) {
        return true;
    }
    return std::none_of(codes.begin(), codes.end(), is_left) && is_right(codes.front()) &&
           is_right(codes.back());
}

// nullopt if the password is not allowed. As in PostgreSQL the checks look at the mapped text
// before it is normalised.
std::optional<std::string> prepare(const tables& with, std::string_view password) {
    const auto codes = decode_utf8(password);
    if (!codes) {
        return std::nullopt;
    }
    const auto mapped = map(with, *codes);
    const bool allowed =
        !mapped.empty() && std::none_of(mapped.begin(), mapped.end(), [&](char32_t code) {
            return with.prohibited.contains(code);
        });
    if (!allowed || !directions_agree(with, mapped)) {
        return std::nullopt;
    }
    return encode_utf8(normalize_kc(mapped));
}

}  // namespace

std::string prepare_password(std::string_view password) {
    if (is_ascii(password)) {
        return std::string(password);
    }
    static const tables with;
    return prepare(with, password).value_or(std::string(password));
}

}  // namespace weir::protocol
