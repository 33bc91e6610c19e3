// pgvector's types vector and halfvec: their binary form (what vector_send and halfvec_send of
// pgvector's src/vector.c and src/halfvec.c write) and their text form "[1,2.5,-3]".
//
// Binary: int16 number of dimensions, int16 zero, then that many floats, all big-endian; a float
// has 4 bytes (IEEE 754 binary32) in a vector and 2 (binary16) in a halfvec.
#pragma once

#include "migration/codec_error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration {

// pgvector's own limit for both types.
inline constexpr std::size_t max_dimensions = 16000;

enum class vector_type : std::uint8_t { vector, halfvec };

// The numbers of a binary vector; those of a halfvec are widened, which is exact. Nothing is
// allocated before the lengths agree. NaN and infinity, which pgvector never stores, are errors.
[[nodiscard]] codec_result<std::vector<float>>
read_vector(std::string_view bytes, vector_type type);

// The same of the text form, which both types share. Each number is read as a float: what the
// server has written is read back exactly.
[[nodiscard]] codec_result<std::vector<float>> read_vector_text(std::string_view text);

// Appends the binary form. 1 to max_dimensions numbers.
void append_vector(std::string& out, std::span<const float> numbers);

// Appends the binary form, each number rounded to the nearest half, ties to even, as pgvector does.
// False, and nothing appended: a number lies outside the type's range (65504 either way).
[[nodiscard]] bool append_halfvec(std::string& out, std::span<const float> numbers);

// "[1,2.5,-3]", in the shortest form that reads back as the same floats.
[[nodiscard]] std::string vector_text(std::span<const float> numbers);

// IEEE 754 binary16 to binary32, exact for every value.
[[nodiscard]] float widened(std::uint16_t half) noexcept;

// To the nearest, ties to even; too large becomes infinity.
[[nodiscard]] std::uint16_t narrowed(float number) noexcept;

}  // namespace weir::migration
