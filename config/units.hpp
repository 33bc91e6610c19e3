// Durations and sizes as people write them: 200ms, 2s, 10m, 1h, 7d; 512KiB, 64MiB, 1GiB. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::config {

enum class unit_problem : std::uint8_t {
    none,
    no_number,     // does not start with a digit
    no_unit,       // a number alone, where a unit must be written
    unknown_unit,  // a number and something that is not a unit
    too_large,     // does not fit
};

template <class T>
struct unit_result {
    T value{};
    unit_problem problem = unit_problem::none;

    explicit operator bool() const { return problem == unit_problem::none; }
};

// A whole number with ms, s, m, h or d; a bare 0 needs no unit.
[[nodiscard]] unit_result<std::chrono::milliseconds> parse_duration(std::string_view text);

// A whole number of bytes, alone or with B, KiB, MiB, GiB or TiB.
[[nodiscard]] unit_result<std::uint64_t> parse_size(std::string_view text);

// The shortest text that parses back to the same value, in the largest unit that divides it.
[[nodiscard]] std::string print_duration(std::chrono::milliseconds value);
[[nodiscard]] std::string print_size(std::uint64_t bytes);

}  // namespace weir::config
