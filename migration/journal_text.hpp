// Texts of the journal's answers. For journal*.cpp only.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace weir::migration {

// A count as the server writes it; 0 if it is none.
inline std::uint64_t number_of(std::string_view digits) {
    std::uint64_t found = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), found);
    return found;
}

}  // namespace weir::migration
