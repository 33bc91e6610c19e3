#include "metrics/labels.hpp"

#include <cstddef>
#include <cstdint>

namespace weir::metrics {
namespace {

constexpr std::size_t max_bytes = 128;

std::uint8_t byte_at(std::string_view text, std::size_t at) {
    return static_cast<std::uint8_t>(text[at]);
}

// Length a lead byte announces; 0 for a byte that cannot lead.
std::size_t announced_length(std::uint8_t lead) {
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return 2;
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        return 3;
    }
    return lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
}

// Overlong forms, surrogates and what is above U+10FFFF show in the second byte.
bool second_byte_fits(std::uint8_t lead, std::uint8_t second) {
    switch (lead) {
    case 0xE0: return second >= 0xA0;
    case 0xED: return second <= 0x9F;
    case 0xF0: return second >= 0x90;
    case 0xF4: return second <= 0x8F;
    default: return true;
    }
}

// Length of the valid character that starts at `at`; 0 if there is none.
std::size_t character_length(std::string_view text, std::size_t at) {
    const auto lead = byte_at(text, at);
    const auto length = announced_length(lead);
    if (length == 0 || at + length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte_at(text, at + i) & 0xC0U) != 0x80U) {
            return 0;
        }
    }
    return length == 1 || second_byte_fits(lead, byte_at(text, at + 1)) ? length : 0;
}

}  // namespace

std::string clean_label(std::string_view text) {
    std::string clean;
    clean.reserve(text.size() < max_bytes ? text.size() : max_bytes);
    for (std::size_t at = 0; at < text.size();) {
        const auto length = character_length(text, at);
        const auto lead = byte_at(text, at);
        const bool replaced = length == 0 || lead < 0x20 || lead == 0x7F;
        const std::size_t taken = length == 0 ? 1 : length;
        if (clean.size() + taken > max_bytes) {
            break;
        }
        if (replaced) {
            clean += '?';
        } else {
            clean += text.substr(at, taken);
        }
        at += taken;
    }
    return clean;
}

}  // namespace weir::metrics
