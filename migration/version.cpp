#include "migration/version.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace weir::migration {
namespace {

constexpr std::size_t text_length = 8 + 1 + 16 + 1 + 8;

template <typename Number>
bool read_hex(std::string_view text, Number& number) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    return fault == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string to_text(const version& what) {
    std::array<char, text_length + 1> text{};
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): bounded, and g++ 12 has no std::format
    std::snprintf(
        text.data(),
        text.size(),
        "%08x.%016llx.%08x",
        what.timeline,
        static_cast<unsigned long long>(what.lsn),
        what.ordinal
    );
    return {text.data(), text_length};
}

std::optional<version> parse_version(std::string_view text) {
    version read;
    if (text.size() != text_length || text[8] != '.' || text[25] != '.' ||
        !read_hex(text.substr(0, 8), read.timeline) || !read_hex(text.substr(9, 16), read.lsn) ||
        !read_hex(text.substr(26), read.ordinal)) {
        return std::nullopt;
    }
    return read;
}

}  // namespace weir::migration
