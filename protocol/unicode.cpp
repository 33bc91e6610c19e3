#include "protocol/unicode.hpp"

#include "protocol/unicode_tables.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

namespace weir::protocol {
namespace {

// Hangul syllables are composed and decomposed by arithmetic (Unicode Standard, 3.12).
constexpr char32_t syllables = 0xAC00;
constexpr char32_t leads = 0x1100;
constexpr char32_t vowels = 0x1161;
constexpr char32_t tails = 0x11A7;
constexpr char32_t lead_count = 19;
constexpr char32_t vowel_count = 21;
constexpr char32_t tail_count = 28;
constexpr char32_t syllable_count = lead_count * vowel_count * tail_count;

constexpr bool within(char32_t code, char32_t first, char32_t count) noexcept {
    return code >= first && code - first < count;
}

class normalizer {
public:
    normalizer() {
        read_decompositions();
        read_compositions();
        read_classes();
    }

    void decompose(char32_t code, std::u32string& out) const {
        if (within(code, syllables, syllable_count)) {
            const auto index = code - syllables;
            out.push_back(leads + index / (vowel_count * tail_count));
            out.push_back(vowels + index / tail_count % vowel_count);
            if (index % tail_count != 0) {
                out.push_back(tails + index % tail_count);
            }
            return;
        }
        const auto found = decompositions_.find(code);
        if (found == decompositions_.end()) {
            out.push_back(code);
        } else {
            out.append(found->second);
        }
    }

    // 0 if the two do not compose.
    [[nodiscard]] char32_t compose(char32_t first, char32_t second) const noexcept {
        if (within(first, leads, lead_count) && within(second, vowels, vowel_count)) {
            return syllables + ((first - leads) * vowel_count + (second - vowels)) * tail_count;
        }
        const bool open_syllable =
            within(first, syllables, syllable_count) && (first - syllables) % tail_count == 0;
        if (open_syllable && within(second, tails + 1, tail_count - 1)) {
            return first + (second - tails);
        }
        const auto found = compositions_.find({first, second});
        return found == compositions_.end() ? 0 : found->second;
    }

    [[nodiscard]] unsigned combining_class(char32_t code) const noexcept {
        const auto after = classes_.upper_bound(code);
        if (after == classes_.begin()) {
            return 0;
        }
        const auto& [first, run] = *std::prev(after);
        return code - first < run.size ? run.value : 0;
    }

private:
    struct class_run {
        char32_t size;
        unsigned value;
    };

    void read_decompositions() {
        packed_numbers numbers(unicode_tables::decompositions);
        char32_t code = 0;
        std::int32_t first = 0;
        while (!numbers.done()) {
            code += numbers.next();
            const auto count = numbers.next();
            std::u32string full;
            auto target = first;
            for (std::uint32_t i = 0; i < count; ++i) {
                target += numbers.next_signed();
                full.push_back(static_cast<char32_t>(target));
            }
            first = static_cast<std::int32_t>(full.front());
            decompositions_.emplace_hint(decompositions_.end(), code, std::move(full));
        }
    }

    void read_compositions() {
        packed_numbers numbers(unicode_tables::compositions);
        char32_t code = 0;
        std::int32_t second = 0;
        while (!numbers.done()) {
            code += numbers.next();
            const auto first = static_cast<std::int32_t>(code) + numbers.next_signed();
            second += numbers.next_signed();
            compositions_.emplace(
                std::pair(static_cast<char32_t>(first), static_cast<char32_t>(second)),
                code
            );
        }
    }

    void read_classes() {
        packed_numbers numbers(unicode_tables::combining_classes);
        char32_t end = 0;
        while (!numbers.done()) {
            const auto first = end + numbers.next();
            const auto size = numbers.next() + 1;
            classes_.emplace(first, class_run{.size = size, .value = numbers.next()});
            end = first + size;
        }
    }

    std::map<char32_t, std::u32string> decompositions_;
    std::map<std::pair<char32_t, char32_t>, char32_t> compositions_;
    std::map<char32_t, class_run> classes_;
};

// Marks behind a base go into the order of their classes; those of one class keep theirs.
void order_marks(const normalizer& tables, std::u32string& codes) {
    const auto is_base = [&](char32_t code) { return tables.combining_class(code) == 0; };
    for (auto at = codes.begin(); at != codes.end();) {
        const auto first = std::find_if_not(at, codes.end(), is_base);
        const auto last = std::find_if(first, codes.end(), is_base);
        std::stable_sort(first, last, [&](char32_t left, char32_t right) {
            return tables.combining_class(left) < tables.combining_class(right);
        });
        at = last;
    }
}

std::u32string compose_all(const normalizer& tables, std::u32string_view codes) {
    std::u32string out;
    std::size_t starter = std::u32string::npos;  // where the last base stands
    unsigned last_class = 0;                     // of the last code kept behind it
    for (const char32_t code : codes) {
        const auto code_class = tables.combining_class(code);
        if (starter != std::u32string::npos) {
            const bool adjacent = starter + 1 == out.size();
            const auto composed = tables.compose(out[starter], code);
            if (composed != 0 && (adjacent || last_class < code_class)) {
                out[starter] = composed;
                continue;
            }
        }
        if (code_class == 0) {
            starter = out.size();
        }
        last_class = code_class;
        out.push_back(code);
    }
    return out;
}

// Length of the sequence that begins with this byte, 0 if none does, and the bits of it that count.
std::pair<std::size_t, char32_t> read_lead(std::uint8_t lead) noexcept {
    if (lead < 0x80) {
        return {1, lead};
    }
    if (lead >= 0xC2 && lead < 0xE0) {
        return {2, lead & 0x1FU};
    }
    if (lead >= 0xE0 && lead < 0xF0) {
        return {3, lead & 0x0FU};
    }
    if (lead >= 0xF0 && lead < 0xF5) {
        return {4, lead & 0x07U};
    }
    return {0, 0};
}

}  // namespace

std::optional<std::u32string> decode_utf8(std::string_view text) {
    constexpr std::array<char32_t, 5> lowest{0, 0, 0x80, 0x800, 0x10000};
    std::u32string codes;
    while (!text.empty()) {
        auto [size, code] = read_lead(static_cast<std::uint8_t>(text.front()));
        if (size == 0 || size > text.size()) {
            return std::nullopt;
        }
        for (const char c : text.substr(1, size - 1)) {
            const auto byte = static_cast<std::uint8_t>(c);
            if ((byte & 0xC0U) != 0x80U) {
                return std::nullopt;
            }
            code = code << 6U | (byte & 0x3FU);
        }
        if (code < lowest[size] || code > 0x10FFFF || within(code, 0xD800, 0x800)) {
            return std::nullopt;
        }
        codes.push_back(code);
        text.remove_prefix(size);
    }
    return codes;
}

std::string encode_utf8(std::u32string_view codes) {
    std::string text;
    const auto put = [&](char32_t value) { text.push_back(static_cast<char>(value)); };
    const auto put_tail = [&](char32_t code, unsigned shift) {
        put(0x80U | (code >> shift & 0x3FU));
    };
    for (const char32_t code : codes) {
        if (code < 0x80) {
            put(code);
            continue;
        }
        if (code < 0x800) {
            put(0xC0U | code >> 6U);
        } else if (code < 0x10000) {
            put(0xE0U | code >> 12U);
            put_tail(code, 6);
        } else {
            put(0xF0U | code >> 18U);
            put_tail(code, 12);
            put_tail(code, 6);
        }
        put_tail(code, 0);
    }
    return text;
}

std::u32string normalize_kc(std::u32string_view codes) {
    static const normalizer tables;
    std::u32string decomposed;
    for (const char32_t code : codes) {
        tables.decompose(code, decomposed);
    }
    order_marks(tables, decomposed);
    return compose_all(tables, decomposed);
}

std::uint32_t packed_numbers::next() noexcept {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    std::uint32_t value = 0;
    for (unsigned shift = 0; !text_.empty(); shift += 5) {
        const auto digit = static_cast<std::uint32_t>(digits.find(text_.front()));
        text_.remove_prefix(1);
        value |= (digit & 31U) << shift;
        if (digit < 32) {
            break;
        }
    }
    return value;
}

std::int32_t packed_numbers::next_signed() noexcept {
    const auto value = next();
    const auto half = static_cast<std::int32_t>(value >> 1U);
    return (value & 1U) != 0 ? -half - 1 : half;
}

code_set::code_set(std::string_view packed_ranges) {
    packed_numbers numbers(packed_ranges);
    char32_t end = 0;
    while (!numbers.done()) {
        const char32_t first = end + numbers.next();
        const char32_t last = first + numbers.next();
        ranges_.push_back({first, last});
        end = last + 1;
    }
}

bool code_set::contains(char32_t code) const noexcept {
    const auto found = std::lower_bound(
        ranges_.begin(),
        ranges_.end(),
        code,
        [](const range& each, char32_t wanted) { return each.last < wanted; }
    );
    return found != ranges_.end() && found->first <= code;
}

}  // namespace weir::protocol
