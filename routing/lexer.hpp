// Cuts SQL text into tokens by PostgreSQL's lexical rules, without allocating and without looking
// into literals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::routing {

enum class token_kind : std::uint8_t {
    end,
    word,          // unquoted identifier or keyword
    quoted_name,   // "…", with the quotes
    unicode_name,  // U&"…"
    string,  // '…', E'…', U&'…' or a dollar-quoted string, with all its continuation lines
    national_string,  // N'…'
    bit_string,       // B'…' or X'…'
    number,
    parameter,  // $n
    op,         // operator, also :: and := and ..
    mark,       // one of , ( ) [ ] . ; :
    other,      // a byte that starts no token of PostgreSQL's
};

// Sixteen bytes, so that it travels in two registers: the scan is on the hot path.
struct token {
    token_kind kind = token_kind::end;
    std::uint32_t begin = 0;  // offset of the first byte in the text
    std::uint32_t end = 0;    // offset behind the last byte
    std::uint32_t parameter =
        0;  // n of a parameter; capped, since a server refuses large ones anyway

    [[nodiscard]] std::string_view in(std::string_view sql) const noexcept {
        return sql.substr(begin, end - begin);
    }
};

// A part of the text, empty if length is 0.
struct text_span {
    std::size_t offset = 0;
    std::size_t length = 0;
    friend bool operator==(const text_span&, const text_span&) = default;
};

// One pass over a text that must outlive the lexer and is shorter than 4 GiB (PostgreSQL's messages
// end at 1 GiB). Not shared between threads. The rules are those of PostgreSQL's documentation,
// chapter "Lexical Structure", and were checked against PostgreSQL 15; one difference: \v is white
// space, as it is from PostgreSQL 16 on.
class lexer {
public:
    explicit lexer(std::string_view sql, bool standard_conforming_strings = true) noexcept
        : sql_(sql), plain_backslash_(standard_conforming_strings) {}

    // The next token that is neither white space nor comment; kind end when there is none.
    [[nodiscard]] token next() noexcept;

    // False once a string, name or comment without its end was met; it then reaches to the end of
    // the text.
    [[nodiscard]] bool complete() const noexcept { return complete_; }

    // Body of the first comment of the form /* pgweir: … */ met so far, without the white space
    // around it.
    [[nodiscard]] text_span hint() const noexcept { return hint_; }

private:
    enum class quoting : std::uint8_t { doubled, backslash, single };

    [[nodiscard]] char at(std::size_t i) const noexcept { return i < sql_.size() ? sql_[i] : '\0'; }

    void skip_blank() noexcept;
    void skip_line_comment() noexcept;
    void skip_block_comment() noexcept;
    void note_hint(std::size_t begin, std::size_t end) noexcept;

    [[nodiscard]] token token_from(token_kind kind, std::size_t begin) const noexcept {
        return {kind, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(pos_), 0};
    }

    token word_or_prefixed_string(std::size_t begin) noexcept;
    token string_body(token_kind kind, std::size_t begin, std::size_t body, quoting rule) noexcept;
    std::size_t closing_quote(std::size_t from, quoting rule) noexcept;
    [[nodiscard]] std::size_t continued_at(std::size_t from) const noexcept;
    token quoted_name(token_kind kind, std::size_t begin, std::size_t body) noexcept;
    token dollar(std::size_t begin) noexcept;
    token number(std::size_t begin) noexcept;
    token operator_run(std::size_t begin) noexcept;

    std::string_view sql_;
    std::size_t pos_ = 0;
    text_span hint_;
    bool plain_backslash_;  // a backslash in '…' is an ordinary character
    bool complete_ = true;
};

// ASCII letters to lower case; other bytes stay, as for identifiers in a UTF-8 database.
[[nodiscard]] constexpr char fold(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

// Is `text` the word `lower` (given in lower case), in any case of letters?
[[nodiscard]] constexpr bool same_word(std::string_view text, std::string_view lower) noexcept {
    if (text.size() != lower.size()) {
        return false;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (fold(text[i]) != lower[i]) {
            return false;
        }
    }
    return true;
}

}  // namespace weir::routing
