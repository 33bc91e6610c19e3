#include "migration/numeric_codec.hpp"

#include "protocol/byte_reader.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace weir::migration {
namespace {

// Binary form: int16 number of digits of base 10000, int16 weight (the first digit's power of
// 10000), uint16 sign, int16 decimal places that are shown, then the digits.
constexpr std::uint16_t positive = 0x0000;
constexpr std::uint16_t negative = 0x4000;
constexpr std::uint16_t nan = 0xC000;
constexpr std::uint16_t infinity = 0xD000;
constexpr std::uint16_t minus_infinity = 0xF000;
constexpr unsigned base = 10'000;
constexpr std::uint16_t most_decimals = 0x3FFF;

struct number {
    int weight = 0;
    bool below_zero = false;
    int decimals = 0;
    std::vector<std::uint16_t> digits;

    // Of this power of 10000; those that are not written are zeros.
    [[nodiscard]] unsigned digit(int power) const {
        const auto index = weight - power;
        return index >= 0 && index < static_cast<int>(digits.size())
                   ? digits[static_cast<std::size_t>(index)]
                   : 0U;
    }
};

void append_digit(std::string& text, unsigned digit) {
    const std::array<char, 4> decimals = {
        static_cast<char>('0' + digit / 1000),
        static_cast<char>('0' + digit / 100 % 10),
        static_cast<char>('0' + digit / 10 % 10),
        static_cast<char>('0' + digit % 10)};
    text.append(decimals.data(), decimals.size());
}

std::string written(const number& what) {
    std::string text = what.below_zero ? "-" : "";
    // Before the point: without leading zeros, but at least one digit.
    text += std::to_string(what.weight >= 0 ? what.digit(what.weight) : 0U);
    for (int power = what.weight - 1; power >= 0; --power) {
        append_digit(text, what.digit(power));
    }
    if (what.decimals > 0) {
        text += '.';
        const auto end = text.size() + static_cast<std::size_t>(what.decimals);
        for (int power = -1; text.size() < end; --power) {
            append_digit(text, what.digit(power));
        }
        text.resize(end);
    }
    return text;
}

}  // namespace

codec_result<std::string> read_numeric(std::string_view bytes) {
    protocol::byte_reader from(protocol::as_bytes(bytes));
    const std::size_t count = from.u16();
    number what;
    what.weight = from.i16();
    const auto sign = from.u16();
    const auto decimals = from.u16();
    if (!from.ok() || from.remaining() != count * 2) {
        return codec_fault::bad_length;
    }
    switch (sign) {
    case nan: return std::string("NaN");
    case infinity: return std::string("Infinity");
    case minus_infinity: return std::string("-Infinity");
    case positive:
    case negative: break;
    default: return codec_fault::bad_value;
    }
    if (decimals > most_decimals) {
        return codec_fault::bad_value;
    }
    what.below_zero = sign == negative;
    what.decimals = decimals;
    what.digits.resize(count);
    for (auto& digit : what.digits) {
        digit = from.u16();
        if (digit >= base) {
            return codec_fault::bad_value;
        }
    }
    return written(what);
}

}  // namespace weir::migration
