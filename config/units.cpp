#include "config/units.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

namespace weir::config {

namespace {

struct unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array duration_units{
    unit{"ms", 1},
    unit{"s", 1'000},
    unit{"m", 60'000},
    unit{"h", 3'600'000},
    unit{"d", 86'400'000}};
constexpr std::array size_units{
    unit{"B", 1},
    unit{"KiB", 1ULL << 10},
    unit{"MiB", 1ULL << 20},
    unit{"GiB", 1ULL << 30},
    unit{"TiB", 1ULL << 40}};

std::optional<std::uint64_t> factor_of(std::string_view name, std::span<const unit> units) {
    for (const auto& candidate : units) {
        if (candidate.name == name) {
            return candidate.factor;
        }
    }
    return std::nullopt;
}

// The factor of the unit that a number without one has; none: the unit must be written.
unit_result<std::uint64_t>
parse(std::string_view text, std::span<const unit> units, std::optional<std::uint64_t> bare) {
    std::uint64_t number = 0;
    const auto* const end = text.data() + text.size();
    const auto [rest, ec] = std::from_chars(text.data(), end, number);
    if (ec == std::errc::invalid_argument) {
        return {.value = 0, .problem = unit_problem::no_number};
    }
    const auto name = text.substr(static_cast<std::size_t>(rest - text.data()));
    const auto factor = name.empty() ? (number == 0 ? 1 : bare) : factor_of(name, units);
    if (!factor) {
        const auto problem = name.empty() ? unit_problem::no_unit : unit_problem::unknown_unit;
        return {.value = 0, .problem = problem};
    }
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (ec == std::errc::result_out_of_range || number > most / *factor) {
        return {.value = 0, .problem = unit_problem::too_large};
    }
    return {.value = number * *factor};
}

std::string print(std::uint64_t number, std::span<const unit> units) {
    auto best = units.front();
    for (const auto& candidate : units) {
        if (number % candidate.factor == 0) {
            best = candidate;
        }
    }
    return std::to_string(number / best.factor).append(best.name);
}

}  // namespace

unit_result<std::chrono::milliseconds> parse_duration(std::string_view text) {
    const auto parsed = parse(text, duration_units, std::nullopt);
    return {
        .value = std::chrono::milliseconds(static_cast<std::int64_t>(parsed.value)),
        .problem = parsed.problem};
}

unit_result<std::uint64_t> parse_size(std::string_view text) {
    return parse(text, size_units, 1);
}

std::string print_duration(std::chrono::milliseconds value) {
    if (value.count() <= 0) {
        return "0";
    }
    return print(static_cast<std::uint64_t>(value.count()), duration_units);
}

std::string print_size(std::uint64_t bytes) {
    return bytes == 0 ? "0" : print(bytes, size_units);
}

}  // namespace weir::config
