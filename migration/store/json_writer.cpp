#include "migration/store/json_writer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

namespace weir::migration::store {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Longer than any number that std::to_chars writes in its shortest form.
constexpr std::size_t longest_number = 32;

template <typename Number>
void append_number(std::string& text, Number what) {
    std::array<char, longest_number> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), what).ptr;
    text.append(digits.data(), end);
}

// What a character of the alphabet stands for; 64 for any other.
constexpr std::array<std::uint8_t, 256> make_values() {
    std::array<std::uint8_t, 256> values{};
    values.fill(64);
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}

constexpr auto values_of = make_values();

}  // namespace

void json_writer::separate() {
    if (comma_) {
        text_ += ',';
    }
    comma_ = true;
}

void json_writer::open(char bracket) {
    separate();
    text_ += bracket;
    comma_ = false;
}

void json_writer::close(char bracket) {
    text_ += bracket;
    comma_ = true;
}

void json_writer::name(std::string_view name) {
    string(name);
    text_ += ':';
    comma_ = false;
}

void json_writer::escape(unsigned char byte) {
    constexpr std::string_view hex = "0123456789abcdef";
    switch (byte) {
    case '"': text_ += "\\\""; break;
    case '\\': text_ += "\\\\"; break;
    case '\n': text_ += "\\n"; break;
    case '\r': text_ += "\\r"; break;
    case '\t': text_ += "\\t"; break;
    default:
        text_ += "\\u00";
        text_ += hex[byte >> 4];
        text_ += hex[byte & 15];
    }
}

void json_writer::string(std::string_view what) {
    separate();
    text_ += '"';
    std::size_t plain = 0;  // where the run of bytes begins that need no escape
    for (std::size_t i = 0; i < what.size(); ++i) {
        const auto byte = static_cast<unsigned char>(what[i]);
        if (byte >= 0x20 && byte != '"' && byte != '\\') {
            continue;
        }
        text_.append(what, plain, i - plain);
        escape(byte);
        plain = i + 1;
    }
    text_.append(what, plain);
    text_ += '"';
}

void json_writer::integer(std::int64_t what) {
    separate();
    append_number(text_, what);
}

void json_writer::unsigned_integer(std::uint64_t what) {
    separate();
    append_number(text_, what);
}

void json_writer::real(double what) {
    if (!std::isfinite(what)) {
        null();
        return;
    }
    separate();
    const auto begin = text_.size();
    append_number(text_, what);
    if (text_.find_first_of(".e", begin) == std::string::npos) {
        text_ += ".0";
    }
}

void json_writer::raw(std::string_view json) {
    separate();
    text_ += json;
}

void json_writer::vector(std::span<const float> what) {
    separate();
    text_ += '[';
    // In pieces through a buffer, which is faster than appending number by number.
    std::array<char, 4096> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    char* const last = piece.data() + piece.size() - longest_number;
    char* next = piece.data();
    for (std::size_t i = 0; i < what.size(); ++i) {
        if (i != 0) {
            *next++ = ',';
        }
        next = std::to_chars(next, next + longest_number - 1, what[i]).ptr;
        if (next >= last) {
            text_.append(piece.data(), next);
            next = piece.data();
        }
    }
    text_.append(piece.data(), next);
    text_ += ']';
}

void json_writer::vector_base64(std::span<const float> what) {
    const auto size = what.size() * 4;
    const auto byte = [what, size](std::size_t at) -> std::uint32_t {
        return at < size ? std::bit_cast<std::uint32_t>(what[at / 4]) >> (at % 4 * 8) & 0xFF : 0;
    };
    separate();
    text_ += '"';
    const auto begin = text_.size();
    text_.resize(begin + (size + 2) / 3 * 4);
    char* next = text_.data() + begin;
    for (std::size_t at = 0; at < size; at += 3) {
        const auto bits = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
        *next++ = alphabet[bits >> 18];
        *next++ = alphabet[bits >> 12 & 63];
        *next++ = alphabet[bits >> 6 & 63];
        *next++ = alphabet[bits & 63];
    }
    const auto padding = (3 - size % 3) % 3;
    std::fill(text_.end() - static_cast<std::ptrdiff_t>(padding), text_.end(), '=');
    text_ += '"';
}

std::optional<std::vector<float>> vector_from_base64(std::string_view text) {
    if (text.size() % 4 != 0) {
        return std::nullopt;
    }
    while (text.ends_with('=')) {
        text.remove_suffix(1);
    }
    const auto bytes = text.size() * 3 / 4;
    if (bytes % 4 != 0 || text.size() % 4 == 1) {
        return std::nullopt;
    }
    std::vector<float> numbers;
    numbers.reserve(bytes / 4);
    std::uint32_t bits = 0;
    unsigned held = 0;
    std::uint32_t number = 0;  // its bytes so far
    unsigned have = 0;
    for (const char character : text) {
        const auto sextet = values_of[static_cast<unsigned char>(character)];
        if (sextet == 64) {
            return std::nullopt;
        }
        bits = (bits << 6 | sextet) & 0xFFFF;
        held += 6;
        if (held < 8) {
            continue;
        }
        held -= 8;
        number |= (bits >> held & 0xFF) << (8 * have);
        if (++have == 4) {
            numbers.push_back(std::bit_cast<float>(number));
            number = 0;
            have = 0;
        }
    }
    return numbers;
}

}  // namespace weir::migration::store
