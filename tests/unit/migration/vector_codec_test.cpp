#include "migration/vector_codec.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace weir::migration {
namespace {

// Keeps the zeros of a literal, the last one excepted.
template <std::size_t Size>
std::string bytes(const char (&literal)[Size]) {
    return std::string(literal, Size - 1);
}

const auto three = bytes("\0\3\0\0\x3f\x80\0\0\x40\x20\0\0\xc0\x40\0\0");
const auto three_halves = bytes("\0\3\0\0\x3c\0\x41\0\xc2\0");

// What IEEE 754 says, without any of the codec's tricks.
double half_by_definition(unsigned half) {
    const auto exponent = static_cast<int>(half >> 10U & 31U);
    const auto fraction = static_cast<double>(half & 1023U);
    const double sign = (half & 0x8000U) != 0 ? -1 : 1;
    return exponent == 0 ? sign * std::ldexp(fraction, -24)
                         : sign * std::ldexp(1024 + fraction, exponent - 25);
}

codec_fault fault_of(std::string_view what, vector_type type = vector_type::vector) {
    const auto read = read_vector(what, type);
    REQUIRE_FALSE(read.has_value());
    return read.error();
}

}  // namespace

TEST_SUITE_BEGIN("migration.vector_codec");

TEST_CASE("a vector's binary form is read and written") {
    const std::vector<float> numbers = {1, 2.5F, -3};
    CHECK(*read_vector(three, vector_type::vector) == numbers);
    std::string out = "x";
    append_vector(out, numbers);
    CHECK(out == "x" + three);
}

TEST_CASE("a halfvec's binary form is read and written") {
    const std::vector<float> numbers = {1, 2.5F, -3};
    CHECK(*read_vector(three_halves, vector_type::halfvec) == numbers);
    std::string out = "x";
    CHECK(append_halfvec(out, numbers));
    CHECK(out == "x" + three_halves);
}

TEST_CASE("vectors of every length around the block size come back") {
    for (std::size_t size = 1; size < 70; ++size) {
        CAPTURE(size);
        std::vector<float> numbers;
        for (std::size_t i = 0; i < size; ++i) {
            numbers.push_back(static_cast<float>(i) - 7.5F);
        }
        std::string full;
        append_vector(full, numbers);
        CHECK(full.size() == 4 + 4 * size);
        CHECK(*read_vector(full, vector_type::vector) == numbers);
        std::string half;
        CHECK(append_halfvec(half, numbers));
        CHECK(half.size() == 4 + 2 * size);
        CHECK(*read_vector(half, vector_type::halfvec) == numbers);
    }
}

TEST_CASE("every half is widened exactly and narrowed back") {
    unsigned wrong = 0;
    for (unsigned half = 0; half <= 0xffffU; ++half) {
        const auto bits = static_cast<std::uint16_t>(half);
        if ((half & 0x7c00U) == 0x7c00U) {
            const bool infinite = (half & 0x3ffU) == 0;
            wrong += std::isinf(widened(bits)) != infinite || std::isnan(widened(bits)) == infinite;
            continue;
        }
        const auto number = static_cast<double>(widened(bits));
        wrong += number != half_by_definition(half) || narrowed(widened(bits)) != bits ||
                 std::signbit(number) != ((half & 0x8000U) != 0);
    }
    CHECK(wrong == 0);
}

TEST_CASE("floats between two halves go to the nearer one and ties to the even one") {
    unsigned wrong = 0;
    for (unsigned half = 0; half < 0x7bffU; ++half) {
        const auto low = widened(static_cast<std::uint16_t>(half));
        const auto high = widened(static_cast<std::uint16_t>(half + 1));
        const float middle = low + (high - low) / 2;
        const auto even = half + (half & 1U);
        wrong += narrowed(middle) != even;
        wrong += narrowed(std::nextafter(middle, low)) != half;
        wrong += narrowed(std::nextafter(middle, high)) != half + 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a number beyond halfvec's range is refused and nothing is written") {
    std::string out;
    const std::vector<float> fits = {65504, 65519.996F, -65504};
    CHECK(append_halfvec(out, fits));
    for (const float number : {65520.0F, -65520.0F, 1e30F, std::nanf("")}) {
        std::string none;
        const std::vector<float> numbers = {1, number};
        CHECK_FALSE(append_halfvec(none, numbers));
        CHECK(none.empty());
    }
}

TEST_CASE("malformed binary vectors are errors") {
    for (std::size_t size = 0; size < three.size(); ++size) {
        CAPTURE(size);
        const std::string cut(three.data(), size);
        CHECK(fault_of(cut) == codec_fault::bad_length);
    }
    CHECK(fault_of(three + "x") == codec_fault::bad_length);
    CHECK(fault_of(three, vector_type::halfvec) == codec_fault::bad_length);
    CHECK(fault_of(bytes("\0\0\0\0")) == codec_fault::bad_dimensions);
    CHECK(fault_of(bytes("\x3e\x81\0\0")) == codec_fault::bad_dimensions);
    CHECK(fault_of(bytes("\xff\xff\0\0")) == codec_fault::bad_dimensions);
    CHECK(fault_of(bytes("\x3e\x80\0\0")) == codec_fault::bad_length);
    CHECK(fault_of(bytes("\0\1\0\1\0\0\0\0")) == codec_fault::bad_value);
    CHECK(fault_of(bytes("\0\1\0\0\x7f\x80\0\0")) == codec_fault::not_finite);
    CHECK(fault_of(bytes("\0\1\0\0\x7f\xc0\0\0")) == codec_fault::not_finite);
    CHECK(fault_of(bytes("\0\1\0\0\xfc\0"), vector_type::halfvec) == codec_fault::not_finite);
}

TEST_CASE("a vector of the most dimensions is read") {
    std::string most;
    append_vector(most, std::vector<float>(max_dimensions, 0.5F));
    const auto read = read_vector(most, vector_type::vector);
    REQUIRE(read.has_value());
    CHECK(read->size() == 16000);
    CHECK(read->back() == 0.5F);
}

TEST_CASE("the text form is read and written") {
    const std::vector<float> numbers = {1, 2.5F, -3e-9F, 1e-45F, 3.4028235e38F, -0.0F};
    const auto text = vector_text(numbers);
    CHECK(text == "[1,2.5,-3e-09,1e-45,3.4028235e+38,-0]");
    const auto read = read_vector_text(text);
    REQUIRE(read.has_value());
    CHECK(*read == numbers);
    CHECK(std::signbit(read->back()));
    CHECK(*read_vector_text("[ 1 , 2 ]") == std::vector<float>{1, 2});
}

TEST_CASE("malformed texts of vectors are errors") {
    for (const auto* text :
         {"",
          "[",
          "[]",
          "1,2",
          "[1,2",
          "[1,]",
          "[,1]",
          "[1,,2]",
          "[1 2]",
          "[1,x]",
          "[1]]",
          "[1;2]"}) {
        CAPTURE(text);
        const auto read = read_vector_text(text);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error() == codec_fault::bad_syntax);
    }
    CHECK(read_vector_text("[NaN]").error() == codec_fault::not_finite);
    CHECK(read_vector_text("[Infinity]").error() == codec_fault::not_finite);
    CHECK(read_vector_text("[1e39]").has_error());
    CHECK(
        read_vector_text("[0" + std::string(32'000, ',') + "]").error() ==
        codec_fault::bad_dimensions
    );
}

TEST_SUITE_END();

}  // namespace weir::migration
