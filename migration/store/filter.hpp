// Conditions of a search in terms of what attribute_codec stores. Where that has less precision
// than the source, a condition becomes wider, never narrower.
#pragma once

#include "migration/store/attributes.hpp"
#include "migration/store/store.hpp"

#include <cstdint>
#include <string>
#include <variant>

namespace weir::migration::store {

struct bound {
    enum class state : std::uint8_t {
        usable,
        never,   // it holds for no document: a comparison with NULL
        foreign  // the attribute, or this comparison of it, is nothing for a store
    };
    state is = state::usable;
    condition::test op = condition::test::equal;
    // Not for is_null.
    std::variant<bool, std::int64_t, double, std::string> operand{};
};

[[nodiscard]] bound bound_of(const condition& what, const layout& of, std::size_t longest_text);

}  // namespace weir::migration::store
