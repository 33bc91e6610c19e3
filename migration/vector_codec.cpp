#include "migration/vector_codec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace weir::migration {
namespace {

constexpr std::size_t header_size = 4;
constexpr std::uint32_t float_exponent = 0x7f800000U;

// Numbers that are worked on at once: with a fixed count the compiler uses vector instructions.
constexpr std::size_t block = 16;

std::uint16_t read_u16(const char* at) {
    return static_cast<std::uint16_t>(
        static_cast<unsigned>(static_cast<unsigned char>(at[0])) << 8U |
        static_cast<unsigned char>(at[1])
    );
}

void write_u16(char* at, std::uint16_t number) {
    at[0] = static_cast<char>(number >> 8U);
    at[1] = static_cast<char>(number);
}

std::uint32_t swapped(std::uint32_t word) {
    if constexpr (std::endian::native == std::endian::big) {
        return word;
    }
    return word >> 24U | (word >> 8U & 0xff00U) | (word << 8U & 0xff0000U) | word << 24U;
}

std::uint16_t swapped(std::uint16_t word) {
    if constexpr (std::endian::native == std::endian::big) {
        return word;
    }
    return static_cast<std::uint16_t>(word >> 8U | word << 8U);
}

// Applies `each` to all elements: whole blocks of them, then the rest.
template <typename From, typename To, typename Each>
void convert(const char* from, char* to, std::size_t count, Each each) {
    const auto some = [&](std::size_t first, std::size_t size) {
        std::array<From, block> source;  // NOLINT(cppcoreguidelines-pro-type-member-init)
        std::array<To, block> target;    // NOLINT(cppcoreguidelines-pro-type-member-init)
        std::memcpy(source.data(), from + first * sizeof(From), size * sizeof(From));
        for (std::size_t i = 0; i < size; ++i) {
            target[i] = each(source[i]);
        }
        std::memcpy(to + first * sizeof(To), target.data(), size * sizeof(To));
    };
    std::size_t first = 0;
    for (; first + block <= count; first += block) {
        some(first, block);
    }
    if (first < count) {
        some(first, count - first);
    }
}

bool all_finite(std::span<const float> numbers) {
    std::array<std::uint32_t, block> found{};
    std::size_t first = 0;
    const auto look = [&](std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            const auto bits = std::bit_cast<std::uint32_t>(numbers[first + i]);
            found[i] |= static_cast<std::uint32_t>((bits & float_exponent) == float_exponent);
        }
    };
    for (; first + block <= numbers.size(); first += block) {
        look(block);
    }
    look(numbers.size() - first);
    return std::all_of(found.begin(), found.end(), [](std::uint32_t any) { return any == 0; });
}

void append_header(std::string& out, std::size_t count) {
    std::array<char, header_size> header{};
    write_u16(header.data(), static_cast<std::uint16_t>(count));
    out.append(header.data(), header.size());
}

// The number at the front of `text`, which is shortened by it.
bool take_number(std::string_view& text, float& number) {
    const auto spaces = std::min(text.find_first_not_of(" \t\n\r\v\f"), text.size());
    text.remove_prefix(spaces);
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec == std::errc::result_out_of_range) {
        // Smaller than any float: the server writes no such thing, pgvector reads it as zero.
        return false;
    }
    if (read.ec != std::errc{}) {
        return false;
    }
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n\r\v\f"), text.size()));
    return true;
}

}  // namespace

float widened(std::uint16_t half) noexcept {
    // The magnitude's bits, moved to where a float has them, are the number over 2^112: the
    // exponents' biases differ by 112, and the multiplication normalises a subnormal half.
    const auto magnitude = static_cast<std::uint32_t>(half & 0x7fffU) << 13U;
    auto bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F);
    bits |= (half & 0x7c00U) == 0x7c00U ? float_exponent : 0U;
    return std::bit_cast<float>(bits | static_cast<std::uint32_t>(half & 0x8000U) << 16U);
}

std::uint16_t narrowed(float number) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    const auto sign = static_cast<std::uint32_t>(bits >> 16U & 0x8000U);
    const float magnitude = std::bit_cast<float>(bits & 0x7fffffffU);
    std::uint32_t half = 0;
    if (std::isnan(number)) {
        half = 0x7e00U;
    } else if (magnitude >= 65520.0F) {
        half = 0x7c00U;
    } else if (magnitude < 0x1p-14F) {
        // Subnormal: adding 0.5 leaves in the lowest bits the multiple of 2^-24, rounded.
        half = std::bit_cast<std::uint32_t>(magnitude + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
    } else {
        const auto odd = bits >> 13U & 1U;
        half = ((bits & 0x7fffffffU) - (112U << 23U) + 0xfffU + odd) >> 13U;
    }
    return static_cast<std::uint16_t>(sign | half);
}

codec_result<std::vector<float>> read_vector(std::string_view bytes, vector_type type) {
    const std::size_t width = type == vector_type::vector ? sizeof(float) : sizeof(std::uint16_t);
    if (bytes.size() < header_size) {
        return codec_fault::bad_length;
    }
    const std::size_t count = read_u16(bytes.data());
    if (count == 0 || count > max_dimensions) {
        return codec_fault::bad_dimensions;
    }
    if (bytes.size() != header_size + count * width) {
        return codec_fault::bad_length;
    }
    if (read_u16(bytes.data() + 2) != 0) {
        return codec_fault::bad_value;
    }
    std::vector<float> numbers(count);
    const auto* from = bytes.data() + header_size;
    auto* to = reinterpret_cast<char*>(numbers.data());
    if (type == vector_type::vector) {
        convert<std::uint32_t, std::uint32_t>(from, to, count, [](std::uint32_t word) {
            return swapped(word);
        });
    } else {
        convert<std::uint16_t, float>(from, to, count, [](std::uint16_t word) {
            return widened(swapped(word));
        });
    }
    if (!all_finite(numbers)) {
        return codec_fault::not_finite;
    }
    return numbers;
}

codec_result<std::vector<float>> read_vector_text(std::string_view text) {
    if (text.size() < 3 || text.front() != '[' || text.back() != ']') {
        return codec_fault::bad_syntax;
    }
    text = text.substr(1, text.size() - 2);
    const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1;
    if (count > max_dimensions) {
        return codec_fault::bad_dimensions;
    }
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (!take_number(text, numbers[i])) {
            return codec_fault::bad_syntax;
        }
        if (i + 1 < count) {
            if (text.empty() || text.front() != ',') {
                return codec_fault::bad_syntax;
            }
            text.remove_prefix(1);
        }
    }
    if (!text.empty()) {
        return codec_fault::bad_syntax;
    }
    if (!all_finite(numbers)) {
        return codec_fault::not_finite;
    }
    return numbers;
}

void append_vector(std::string& out, std::span<const float> numbers) {
    append_header(out, numbers.size());
    const auto at = out.size();
    out.resize(at + numbers.size() * sizeof(float));
    const auto* from = reinterpret_cast<const char*>(numbers.data());
    convert<std::uint32_t, std::uint32_t>(
        from,
        out.data() + at,
        numbers.size(),
        [](std::uint32_t word) { return swapped(word); }
    );
}

bool append_halfvec(std::string& out, std::span<const float> numbers) {
    const bool fits = std::all_of(numbers.begin(), numbers.end(), [](float number) {
        return std::abs(number) < 65520.0F;
    });
    if (!fits) {
        return false;
    }
    append_header(out, numbers.size());
    const auto at = out.size();
    out.resize(at + numbers.size() * sizeof(std::uint16_t));
    const auto* from = reinterpret_cast<const char*>(numbers.data());
    convert<float, std::uint16_t>(from, out.data() + at, numbers.size(), [](float number) {
        return swapped(narrowed(number));
    });
    return true;
}

std::string vector_text(std::span<const float> numbers) {
    std::string text = "[";
    std::array<char, 32> digits{};
    for (const float number : numbers) {
        if (text.size() > 1) {
            text += ',';
        }
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        text.append(digits.data(), end);
    }
    return text += ']';
}

}  // namespace weir::migration
