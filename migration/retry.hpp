// How long to wait before the same request is sent again. Pure.
#pragma once

#include "migration/store/error.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace weir::migration {

// 250 ms doubled up to 8 s, less up to a quarter at random; never less than the store asks for, and
// never more than five minutes.
[[nodiscard]] inline std::chrono::milliseconds
pause_after(const store::error& error, unsigned attempt, double random) {
    constexpr std::chrono::milliseconds first{250};
    constexpr std::chrono::milliseconds longest{8000};
    constexpr std::chrono::milliseconds limit{300'000};
    const auto grown = std::min(longest, first * (std::int64_t{1} << std::min(attempt, 5U)));
    const std::chrono::milliseconds own{
        static_cast<std::int64_t>(static_cast<double>(grown.count()) * (1.0 - 0.25 * random))};
    return std::min(limit, std::max(own, error.retry_after.value_or(own)));
}

}  // namespace weir::migration
