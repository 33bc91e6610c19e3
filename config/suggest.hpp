// "Did you mean": the known word closest to a mistyped one. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

// Insertions, deletions, replacements and swaps of neighbours that lead from one text to the other.
[[nodiscard]] std::size_t edit_distance(std::string_view from, std::string_view to);

// The closest candidate, or an empty text when none is close enough to be meant.
[[nodiscard]] std::string closest(std::string_view word, std::span<const std::string> candidates);

// "; did you mean 'x'?", or nothing.
[[nodiscard]] std::string
suggestion(std::string_view word, std::span<const std::string> candidates);

// "a, b or c".
[[nodiscard]] std::string one_of(std::span<const std::string> words);

}  // namespace weir::config
