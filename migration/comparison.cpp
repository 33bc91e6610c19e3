#include "migration/comparison.hpp"

#include "migration/vector_codec.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace weir::migration {
namespace {

double length_of(std::span<const float> numbers) {
    double sum = 0;
    for (const float number : numbers) {
        sum += static_cast<double>(number) * static_cast<double>(number);
    }
    return std::sqrt(sum);
}

// A store that normalises computes in single precision: seven digits of the longest number.
bool same_direction(std::span<const float> left, std::span<const float> right) {
    constexpr double tolerance = 2e-6;
    const double left_length = length_of(left);
    const double right_length = length_of(right);
    if (left_length == 0 || right_length == 0) {
        return left_length == right_length;
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
        const double apart = static_cast<double>(left[i]) / left_length -
                             static_cast<double>(right[i]) / right_length;
        if (std::abs(apart) > tolerance) {
            return false;
        }
    }
    return true;
}

// Chroma keeps a vector for cosine as direction and length, and multiplies them when it is asked:
// the last bits of numbers differ (by 1.8e-7 of the number at most, as measured).
bool same_but_for_rounding(float left, float right) {
    constexpr float tolerance = 5e-7F;
    return std::abs(left - right) <= tolerance * std::abs(left);
}

bool same_embedding(
    std::span<const float> source,
    std::span<const float> held,
    const store::layout& layout,
    const store::abilities& able
) {
    if (source.size() != held.size()) {
        return false;
    }
    if (able.normalises) {
        return same_direction(source, held);
    }
    return std::equal(source.begin(), source.end(), held.begin(), [&](float left, float right) {
        return left == right || (layout.half && narrowed(left) == narrowed(right)) ||
               (layout.metric == store::metric::cosine && same_but_for_rounding(left, right));
    });
}

}  // namespace

std::string_view to_string(difference what) {
    switch (what) {
    case difference::none: return "none";
    case difference::missing: return "missing";
    case difference::extra: return "extra";
    case difference::embedding: return "embedding";
    case difference::attributes: break;
    }
    return "attributes";
}

difference compare(
    const document& source,
    const stored& held,
    const store::layout& layout,
    const store::abilities& able
) {
    if (!same_embedding(source.embedding, held.embedding, layout, able)) {
        return difference::embedding;
    }
    return source.attributes == held.attributes ? difference::none : difference::attributes;
}

}  // namespace weir::migration
