#include "routing/shape.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <random>

namespace weir::routing {

namespace {

__extension__ using uint128 = unsigned __int128;

std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) noexcept {
    const auto product = static_cast<uint128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

struct guard_key {
    std::uint64_t seed;
    std::uint64_t factor;
};

guard_key make_guard_key() {
    std::random_device source;
    const auto word = [&source] { return (std::uint64_t{source()} << 32) | source(); };
    const auto seed = word();
    return {seed, word() | 1};
}

const guard_key process_key = make_guard_key();

// From the hexadecimal digits of pi; the factors made odd.
constexpr std::uint64_t hi_factor = 0x243f6a8885a308d3;
constexpr std::uint64_t lo_factor = 0x13198a2e03707345;
constexpr std::uint64_t hi_seed = 0xa4093822299f31d0;
constexpr std::uint64_t lo_seed = 0x082efa98ec4e6c89;

class lanes {
public:
    // Every text that is added lies in `sql`.
    explicit lanes(std::string_view sql) noexcept : limit_(sql.data() + sql.size()) {}

    void add(std::uint64_t word) noexcept {
        hi_ = std::rotl(hi_, 23) ^ fold_product(hi_ ^ word, hi_factor);
        lo_ = std::rotl(lo_, 41) ^ fold_product(lo_ ^ word, lo_factor);
        guard_ = std::rotl(guard_, 31) ^ fold_product(guard_ ^ word, process_key.factor);
    }

    void add_literal(token_kind kind) noexcept { add(tag(kind) | is_short); }

    void add_mark(char c) noexcept { add(tag(token_kind::mark) | static_cast<unsigned char>(c)); }

    void add_parameter(std::uint32_t n) noexcept { add(tag(token_kind::parameter) | n); }

    // Text that counts: as it stands, or with ASCII letters folded.
    template <bool Folded>
    void add_text(token_kind kind, std::string_view text) noexcept {
        if (text.size() < 8) {
            add(tag(kind) | is_short | std::uint64_t{text.size()} << 56 | word<Folded>(text));
            return;
        }
        add(tag(kind) | text.size());
        for (; text.size() > 8; text.remove_prefix(8)) {
            add(word<Folded>(text.substr(0, 8)));
        }
        add(word<Folded>(text));
    }

    void finish(shape& out) noexcept {
        constexpr std::uint64_t last = 0x452821e638d01377;
        add(last);
        out.hi = fold_product(hi_, lo_factor) ^ lo_;
        out.lo = fold_product(lo_, hi_factor) ^ hi_;
        out.guard = guard_;
    }

private:
    static constexpr auto is_short = std::uint64_t{1} << 59;

    static std::uint64_t tag(token_kind kind) noexcept {
        return static_cast<std::uint64_t>(kind) << 60;
    }

    // Up to eight bytes of text as a number. Whole words are loaded where the SQL text reaches that
    // far: most tokens are short, and a copy of variable length costs more than all the rest.
    template <bool Folded>
    [[nodiscard]] std::uint64_t word(std::string_view text) const noexcept {
        std::uint64_t result = 0;
        if (std::endian::native == std::endian::little && limit_ - text.data() >= 8) {
            std::memcpy(&result, text.data(), 8);
            result &= ~std::uint64_t{0} >> (64 - 8 * text.size());
        } else {
            for (std::size_t i = 0; i < text.size(); ++i) {
                result |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
            }
        }
        return Folded ? to_lower(result) : result;
    }

    // Eight bytes at once: bit 7 of each sum tells whether the byte is at least 'A', or above 'Z'.
    static std::uint64_t to_lower(std::uint64_t bytes) noexcept {
        constexpr std::uint64_t each = 0x0101010101010101;
        const auto low = bytes & (0x7f * each);
        const auto from_a = low + (0x80 - 'A') * each;
        const auto above_z = low + (0x80 - 'Z' - 1) * each;
        const auto upper = from_a & ~above_z & ~bytes & (0x80 * each);
        return bytes | (upper >> 2);
    }

    const char* limit_;
    std::uint64_t hi_ = hi_seed;
    std::uint64_t lo_ = lo_seed;
    std::uint64_t guard_ = process_key.seed;
};

struct known_word {
    std::string_view text;
    first_word value;
    bool blind = false;  // literals of a statement that starts so do not count
};

constexpr std::array known_words = {
    known_word{"select", first_word::select, true},
    known_word{"with", first_word::with, true},
    known_word{"values", first_word::values, true},
    known_word{"table", first_word::table, true},
    known_word{"insert", first_word::insert, true},
    known_word{"update", first_word::update, true},
    known_word{"delete", first_word::remove, true},
    known_word{"merge", first_word::merge, true},
    known_word{"begin", first_word::begin},
    known_word{"commit", first_word::commit},
    known_word{"rollback", first_word::rollback},
    known_word{"set", first_word::set},
    known_word{"start", first_word::start},
    known_word{"end", first_word::end},
    known_word{"abort", first_word::abort},
    known_word{"savepoint", first_word::savepoint},
    known_word{"release", first_word::release},
    known_word{"reset", first_word::reset},
    known_word{"show", first_word::show},
    known_word{"prepare", first_word::prepare},
    known_word{"execute", first_word::execute},
    known_word{"deallocate", first_word::deallocate},
    known_word{"discard", first_word::discard},
    known_word{"listen", first_word::listen},
    known_word{"unlisten", first_word::unlisten},
    known_word{"notify", first_word::notify},
    known_word{"copy", first_word::copy},
    known_word{"explain", first_word::explain},
};

known_word start_of_statement(const token& t, std::string_view text) noexcept {
    if (t.kind == token_kind::mark && text == "(") {
        return {"(", first_word::parenthesis, true};
    }
    if (t.kind == token_kind::word) {
        for (const auto& known : known_words) {
            if (same_word(text, known.text)) {
                return known;
            }
        }
    }
    return {"", first_word::other};
}

class shape_scan {
public:
    shape_scan(std::string_view sql, scan_options options) noexcept
        : sql_(sql), lexer_(sql, options.standard_conforming_strings), lanes_(sql) {}

    shape run() noexcept {
        for (auto t = lexer_.next(); t.kind != token_kind::end; t = lexer_.next()) {
            on_token(t);
        }
        flush_comma();
        out_.complete = lexer_.complete();
        out_.hint = lexer_.hint();
        add_hint();
        lanes_.finish(out_);
        return out_;
    }

private:
    // What the last tokens say about the value of the next literal: it counts if they were …
    enum class value_counts : std::uint8_t {
        no,
        name_of_setting,  // current_setting
        string,           // current_setting( or UESCAPE
        number,           // BY
    };

    void on_token(const token& t) noexcept {
        switch (t.kind) {
        case token_kind::string:
        case token_kind::national_string:
        case token_kind::bit_string:
        case token_kind::number:
        case token_kind::parameter: on_literal(t); break;
        case token_kind::mark: on_mark(t); break;
        default: on_text(t); break;
        }
    }

    void on_literal(const token& t) noexcept {
        begin_statement(t);
        const bool exact =
            t.kind != token_kind::parameter &&
            (!blind_ || (value_counts_ == value_counts::string && t.kind != token_kind::number) ||
             (value_counts_ == value_counts::number && t.kind == token_kind::number));
        value_counts_ = value_counts::no;
        if (exact) {
            end_run();
            lanes_.add_text<false>(t.kind, t.in(sql_));
            return;
        }
        const bool parameter = t.kind == token_kind::parameter;
        const bool follows =
            comma_held_ && t.kind == run_ && (!parameter || t.parameter == run_parameter_ + 1);
        run_parameter_ = t.parameter;
        if (follows) {
            comma_held_ = false;
            return;
        }
        const bool begins_run = blind_ && behind_open_;
        end_run();
        if (parameter) {
            lanes_.add_parameter(t.parameter);
        } else {
            lanes_.add_literal(t.kind);
        }
        run_ = begins_run ? t.kind : token_kind::end;
    }

    void on_mark(const token& t) noexcept {
        const char c = sql_[t.begin];
        if (c == ',' && run_ != token_kind::end && !comma_held_) {
            comma_held_ = true;
            return;
        }
        end_run();
        if (c == ';') {
            in_statement_ = false;
        } else {
            begin_statement(t);
        }
        lanes_.add_mark(c);
        behind_open_ = c == '(' || c == '[';
        const bool opens_setting = value_counts_ == value_counts::name_of_setting && c == '(';
        value_counts_ = opens_setting ? value_counts::string : value_counts::no;
    }

    void on_text(const token& t) noexcept {
        begin_statement(t);
        end_run();
        const auto text = t.in(sql_);
        if (t.kind == token_kind::word) {
            lanes_.add_text<true>(t.kind, text);
        } else {
            lanes_.add_text<false>(t.kind, text);
        }
        value_counts_ = counts_behind(t, text);
    }

    static value_counts counts_behind(const token& t, std::string_view text) noexcept {
        switch (text.size()) {
        case 2: return same_word(text, "by") ? value_counts::number : value_counts::no;
        case 7: return same_word(text, "uescape") ? value_counts::string : value_counts::no;
        case 15:
            return same_word(text, "current_setting") ? value_counts::name_of_setting
                                                      : value_counts::no;
        case 17:
            return text == "\"current_setting\"" ? value_counts::name_of_setting : value_counts::no;
        default:
            // An escaped name may spell anything.
            return t.kind == token_kind::unicode_name ? value_counts::name_of_setting
                                                      : value_counts::no;
        }
    }

    void begin_statement(const token& t) noexcept {
        if (in_statement_) {
            return;
        }
        in_statement_ = true;
        const auto start = start_of_statement(t, t.in(sql_));
        blind_ = start.blind;
        if (out_.statements == 0) {
            out_.first = start.value;
        }
        if (out_.statements < std::numeric_limits<std::uint16_t>::max()) {
            ++out_.statements;
        }
    }

    void flush_comma() noexcept {
        if (comma_held_) {
            lanes_.add_mark(',');
            comma_held_ = false;
        }
    }

    void end_run() noexcept {
        flush_comma();
        run_ = token_kind::end;
        behind_open_ = false;
    }

    // The words of the hint, in order; of a token only that there is one.
    void add_hint() noexcept {
        constexpr std::string_view blanks = " \t\n\r\f\v,";
        constexpr std::string_view token_key = "token=";
        auto rest = sql_.substr(out_.hint.offset, out_.hint.length);
        while (!rest.empty()) {
            const auto length = rest.find_first_of(blanks);
            auto word = rest.substr(0, length);
            if (same_word(word.substr(0, token_key.size()), token_key)) {
                word = word.substr(0, token_key.size());
            }
            if (!word.empty()) {
                lanes_.add_text<true>(token_kind::end, word);
            }
            rest.remove_prefix(length == std::string_view::npos ? rest.size() : length + 1);
        }
    }

    std::string_view sql_;
    lexer lexer_;
    lanes lanes_;
    shape out_;
    bool in_statement_ = false;
    bool blind_ = false;
    value_counts value_counts_ = value_counts::no;
    // A run of literals that counts as its first one, and a comma of it not yet known to be inside.
    token_kind run_ = token_kind::end;
    std::uint32_t run_parameter_ = 0;
    bool comma_held_ = false;
    bool behind_open_ = false;  // the last token was "(" or "["
};

}  // namespace

shape scan(std::string_view sql, scan_options options) noexcept {
    if (sql.size() > std::numeric_limits<std::uint32_t>::max()) {
        shape unread;
        unread.complete = false;
        return unread;
    }
    return shape_scan(sql, options).run();
}

std::string to_string(const shape& value) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const auto lane : {value.hi, value.lo}) {
        for (int shift = 60; shift >= 0; shift -= 4) {
            text += digits[(lane >> shift) & 15];
        }
    }
    return text;
}

}  // namespace weir::routing
