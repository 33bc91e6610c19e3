#include "migration/store/filter.hpp"

#include <limits>

namespace weir::migration::store {
namespace {

using test = condition::test;
using reals = std::numeric_limits<double>;

test with_equal(test op) {
    return op == test::less ? test::less_equal : op == test::greater ? test::greater_equal : op;
}

bound foreign() {
    return {.is = bound::state::foreign};
}

// Rounding keeps the order of numbers, so that a < b becomes a <= b at worst.
bound number_bound(test op, const value& operand, bool exact) {
    if (std::holds_alternative<bool>(operand)) {
        return foreign();
    }
    const double number = filter_number(operand);
    exact = exact && number < reals::max() && number > reals::lowest() &&
            std::holds_alternative<double>(operand);
    return {.op = exact ? op : with_equal(op), .operand = number};
}

bound text_bound(test op, const std::string& operand, std::size_t longest_text) {
    const auto kept = filter_text(operand, longest_text);
    const bool exact = longest_text == 0 || operand.size() + 4 <= longest_text;
    return {.op = exact ? op : with_equal(op), .operand = std::string(kept)};
}

}  // namespace

bound bound_of(const condition& what, const layout& of, std::size_t longest_text) {
    if (what.attribute >= of.attributes.size()) {
        return foreign();
    }
    if (what.op == test::is_null) {
        return {.op = what.op};
    }
    if (is_null(what.operand)) {
        return {.is = bound::state::never};
    }
    const auto* const text = std::get_if<std::string>(&what.operand);
    const auto* const integer = std::get_if<std::int64_t>(&what.operand);
    switch (of.attributes[what.attribute].kind) {
    case value_kind::boolean:
        if (const auto* flag = std::get_if<bool>(&what.operand); flag && what.op == test::equal) {
            return {.op = what.op, .operand = *flag};
        }
        return foreign();
    case value_kind::integer:
    case value_kind::timestamp:
    case value_kind::date:
        return integer != nullptr ? bound{.op = what.op, .operand = *integer} : foreign();
    case value_kind::real: return number_bound(what.op, what.operand, true);
    case value_kind::numeric: return number_bound(what.op, what.operand, false);
    case value_kind::text:
        return text != nullptr ? text_bound(what.op, *text, longest_text) : foreign();
    case value_kind::uuid:
        return text != nullptr ? bound{.op = what.op, .operand = *text} : foreign();
    case value_kind::json: break;
    }
    return foreign();
}

}  // namespace weir::migration::store
