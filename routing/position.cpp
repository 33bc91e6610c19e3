#include "routing/position.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace weir::routing {

namespace {

std::optional<std::uint64_t> parse_half(std::string_view text) {
    constexpr std::size_t max_digits = 8;
    if (text.empty() || text.size() > max_digits) {
        return std::nullopt;
    }
    std::uint32_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto [stop, ec] = std::from_chars(text.data(), end, value, 16);
    if (ec != std::errc{} || stop != end) {
        return std::nullopt;
    }
    return value;
}

}  // namespace

std::partial_ordering operator<=>(const position& left, const position& right) {
    if (left.system_identifier != right.system_identifier) {
        return std::partial_ordering::unordered;
    }
    if (const auto order = left.timeline <=> right.timeline; std::is_neq(order)) {
        return order;
    }
    return left.at <=> right.at;
}

std::optional<lsn> parse_lsn(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
        return std::nullopt;
    }
    const auto high = parse_half(text.substr(0, slash));
    const auto low = parse_half(text.substr(slash + 1));
    if (!high || !low) {
        return std::nullopt;
    }
    return lsn{*high << 32U | *low};
}

std::string to_string(lsn at) {
    std::array<char, 17> text{};
    auto* const end = text.data() + text.size();
    auto* out = std::to_chars(text.data(), end, at.value >> 32U, 16).ptr;
    *out++ = '/';
    out = std::to_chars(out, end, at.value & 0xffffffffU, 16).ptr;
    std::transform(text.data(), out, text.data(), [](char c) {
        return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return {text.data(), out};
}

}  // namespace weir::routing
