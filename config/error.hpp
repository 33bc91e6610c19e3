// What is wrong with a configuration, and where.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace weir::config {

// A place in a YAML file, both counted from 1. Line 0: the error concerns no place in the text.
struct place {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    friend bool operator==(const place&, const place&) = default;
};

// The text says what is wrong and what is expected, and never holds the value of a secret.
struct error {
    std::string file;
    place at;
    std::string text;
};

// The parts one after the other.
[[nodiscard]] std::string concat(std::initializer_list<std::string_view> parts);

// "file:line:column: text", or "file: text" when there is no place.
[[nodiscard]] std::string to_string(const error& e);

}  // namespace weir::config
