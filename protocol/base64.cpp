#include "protocol/base64.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::protocol {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xFF;

constexpr auto digits = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(no_digit);
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        table[static_cast<std::uint8_t>(alphabet[i])] = static_cast<std::uint8_t>(i);
    }
    return table;
}();

}  // namespace

std::string base64_encode(byte_span raw) {
    std::string text;
    text.reserve((raw.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < raw.size(); at += 3) {
        const auto group = raw.subspan(at, std::min<std::size_t>(3, raw.size() - at));
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            bits = bits << 8U | (i < group.size() ? group[i] : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            text.push_back(i <= group.size() ? alphabet[bits >> (18U - 6U * i) & 63U] : '=');
        }
    }
    return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
    if (text.size() % 4 != 0) {
        return std::nullopt;
    }
    const auto end = text.find('=');
    const auto body = text.substr(0, end);
    const std::size_t padding = text.size() - body.size();
    if (padding > 2 || text.substr(body.size()) != std::string_view("==").substr(0, padding)) {
        return std::nullopt;
    }
    std::string raw;
    raw.reserve(text.size() / 4 * 3);
    std::uint32_t bits = 0;
    unsigned held = 0;
    for (const char c : body) {
        const auto digit = digits[static_cast<std::uint8_t>(c)];
        if (digit == no_digit) {
            return std::nullopt;
        }
        bits = (bits << 6U | digit) & 0xFFFFU;
        held += 6;
        if (held >= 8) {
            held -= 8;
            raw.push_back(static_cast<char>(bits >> held));
        }
    }
    if ((bits & ((1U << held) - 1)) != 0) {
        return std::nullopt;
    }
    return raw;
}

}  // namespace weir::protocol
