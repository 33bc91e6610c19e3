// UTF-8 and the normal form KC, for passwords. Source: RFC 3629; Unicode Standard Annex 15.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::protocol {

// nullopt if it is not UTF-8: overlong forms and surrogates are not.
[[nodiscard]] std::optional<std::u32string> decode_utf8(std::string_view text);
[[nodiscard]] std::string encode_utf8(std::u32string_view codes);

// Exact for all code points assigned in Unicode 3.2; others are left as they are.
[[nodiscard]] std::u32string normalize_kc(std::u32string_view codes);

// Reads the numbers of a packed table one after the other.
class packed_numbers {
public:
    explicit packed_numbers(std::string_view text) noexcept : text_(text) {}

    [[nodiscard]] bool done() const noexcept { return text_.empty(); }

    [[nodiscard]] std::uint32_t next() noexcept;
    [[nodiscard]] std::int32_t next_signed() noexcept;

private:
    std::string_view text_;
};

// A set of code points, from a packed table of ranges.
class code_set {
public:
    explicit code_set(std::string_view packed_ranges);
    [[nodiscard]] bool contains(char32_t code) const noexcept;

private:
    struct range {
        char32_t first;
        char32_t last;
    };

    std::vector<range> ranges_;
};

}  // namespace weir::protocol
