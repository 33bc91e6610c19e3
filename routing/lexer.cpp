#include "routing/lexer.hpp"

#include <array>
#include <cstring>

namespace weir::routing {

namespace {

constexpr auto not_found = static_cast<std::size_t>(-1);

enum class byte_class : std::uint8_t {
    other,
    space,
    letter,
    digit,
    quote,
    double_quote,
    dollar,
    op,
    mark
};

constexpr std::array<byte_class, 256> make_classes() {
    std::array<byte_class, 256> table{};
    const auto set = [&table](std::string_view bytes, byte_class value) {
        for (const char c : bytes) {
            table[static_cast<unsigned char>(c)] = value;
        }
    };
    for (std::size_t c = 0x80; c < 256; ++c) {
        table[c] = byte_class::letter;
    }
    for (std::size_t c = 'a'; c <= 'z'; ++c) {
        table[c] = table[c - 'a' + 'A'] = byte_class::letter;
    }
    set("_", byte_class::letter);
    set("0123456789", byte_class::digit);
    set(" \t\n\r\f\v", byte_class::space);
    set("'", byte_class::quote);
    set("\"", byte_class::double_quote);
    set("$", byte_class::dollar);
    set("~!@#^&|`?+-*/%<>=", byte_class::op);
    set(",()[].;:", byte_class::mark);
    return table;
}

constexpr auto classes = make_classes();

byte_class class_of(char c) noexcept {
    return classes[static_cast<unsigned char>(c)];
}

bool is_digit(char c) noexcept {
    return class_of(c) == byte_class::digit;
}

bool continues_word(char c) noexcept {
    const auto k = class_of(c);
    return k == byte_class::letter || k == byte_class::digit || k == byte_class::dollar;
}

// Of a multi-character operator only one that holds one of these may end in + or -.
bool may_end_in_sign(std::string_view op) noexcept {
    return op.find_first_of("~!@#%^&|`?") != std::string_view::npos;
}

}  // namespace

token lexer::next() noexcept {
    skip_blank();
    const auto begin = pos_;
    if (begin >= sql_.size()) {
        return token_from(token_kind::end, begin);
    }
    const char c = sql_[begin];
    switch (class_of(c)) {
    case byte_class::letter: return word_or_prefixed_string(begin);
    case byte_class::digit: return number(begin);
    case byte_class::quote:
        return string_body(
            token_kind::string,
            begin,
            begin + 1,
            plain_backslash_ ? quoting::doubled : quoting::backslash
        );
    case byte_class::double_quote: return quoted_name(token_kind::quoted_name, begin, begin + 1);
    case byte_class::dollar: return dollar(begin);
    case byte_class::op: return operator_run(begin);
    case byte_class::mark:
        if (c == '.' && is_digit(at(begin + 1))) {
            return number(begin);
        }
        if ((c == ':' && (at(begin + 1) == ':' || at(begin + 1) == '=')) ||
            (c == '.' && at(begin + 1) == '.')) {
            pos_ = begin + 2;
            return token_from(token_kind::op, begin);
        }
        pos_ = begin + 1;
        return token_from(token_kind::mark, begin);
    case byte_class::space:
    case byte_class::other: break;
    }
    pos_ = begin + 1;
    return token_from(token_kind::other, begin);
}

void lexer::skip_blank() noexcept {
    while (pos_ < sql_.size()) {
        const char c = sql_[pos_];
        if (class_of(c) == byte_class::space) {
            ++pos_;
        } else if (c == '-' && at(pos_ + 1) == '-') {
            skip_line_comment();
        } else if (c == '/' && at(pos_ + 1) == '*') {
            skip_block_comment();
        } else {
            return;
        }
    }
}

void lexer::skip_line_comment() noexcept {
    const auto end = sql_.find_first_of("\n\r", pos_);
    pos_ = end == std::string_view::npos ? sql_.size() : end;
}

void lexer::skip_block_comment() noexcept {
    const auto body = pos_ + 2;
    pos_ = body;
    for (int depth = 1; depth > 0;) {
        const auto stop = sql_.find_first_of("*/", pos_);
        if (stop == std::string_view::npos) {
            complete_ = false;
            pos_ = sql_.size();
            return;
        }
        if (sql_[stop] == '*' && at(stop + 1) == '/') {
            --depth;
            pos_ = stop + 2;
        } else if (sql_[stop] == '/' && at(stop + 1) == '*') {
            ++depth;
            pos_ = stop + 2;
        } else {
            pos_ = stop + 1;
        }
    }
    note_hint(body, pos_ - 2);
}

void lexer::note_hint(std::size_t begin, std::size_t end) noexcept {
    constexpr std::string_view mark = "pgweir:";
    const auto blank = [this](std::size_t i) { return class_of(sql_[i]) == byte_class::space; };
    while (begin < end && blank(begin)) {
        ++begin;
    }
    if (hint_.length != 0 ||
        !same_word(sql_.substr(begin, end - begin).substr(0, mark.size()), mark)) {
        return;
    }
    begin += mark.size();
    while (begin < end && blank(begin)) {
        ++begin;
    }
    while (begin < end && blank(end - 1)) {
        --end;
    }
    hint_ = {begin, end - begin};
}

token lexer::word_or_prefixed_string(std::size_t begin) noexcept {
    const char follower = at(begin + 1);
    const auto body = begin + 2;
    if (follower == '\'') {
        switch (fold(sql_[begin])) {
        case 'e': return string_body(token_kind::string, begin, body, quoting::backslash);
        case 'b':
        case 'x': return string_body(token_kind::bit_string, begin, body, quoting::single);
        case 'n':
            return string_body(
                token_kind::national_string,
                begin,
                body,
                plain_backslash_ ? quoting::doubled : quoting::backslash
            );
        default: break;
        }
    }
    if (follower == '&' && fold(sql_[begin]) == 'u') {
        if (at(body) == '\'') {
            return string_body(token_kind::string, begin, body + 1, quoting::doubled);
        }
        if (at(body) == '"') {
            return quoted_name(token_kind::unicode_name, begin, body + 1);
        }
    }
    pos_ = begin + 1;
    while (pos_ < sql_.size() && continues_word(sql_[pos_])) {
        ++pos_;
    }
    return token_from(token_kind::word, begin);
}

token lexer::string_body(
    token_kind kind,
    std::size_t begin,
    std::size_t body,
    quoting rule
) noexcept {
    while (body != not_found) {
        pos_ = closing_quote(body, rule);
        body = continued_at(pos_);
    }
    return token_from(kind, begin);
}

// Offset behind the quote that ends the string; the end of the text if there is none.
std::size_t lexer::closing_quote(std::size_t from, quoting rule) noexcept {
    const auto find = [this](char c, std::size_t begin, std::size_t end) {
        const void* hit = begin < end ? std::memchr(sql_.data() + begin, c, end - begin) : nullptr;
        return hit == nullptr
                   ? end
                   : static_cast<std::size_t>(static_cast<const char*>(hit) - sql_.data());
    };
    auto quote = find('\'', from, sql_.size());
    while (quote < sql_.size()) {
        if (rule == quoting::backslash) {
            const auto escape = find('\\', from, quote);
            if (escape < quote) {
                from = escape + 2;
                quote = quote < from ? find('\'', from, sql_.size()) : quote;
                continue;
            }
        }
        if (rule == quoting::single || at(quote + 1) != '\'') {
            return quote + 1;
        }
        from = quote + 2;
        quote = find('\'', from, sql_.size());
    }
    complete_ = false;
    return sql_.size();
}

// A string goes on behind white space with a line end in it, if a quote comes next. Only --
// comments may stand between.
std::size_t lexer::continued_at(std::size_t from) const noexcept {
    bool new_line = false;
    for (auto i = from; i < sql_.size();) {
        const char c = sql_[i];
        if (class_of(c) == byte_class::space) {
            new_line = new_line || c == '\n' || c == '\r';
            ++i;
        } else if (c == '-' && at(i + 1) == '-') {
            i = sql_.find_first_of("\n\r", i);  // npos ends the loop
        } else {
            return new_line && c == '\'' ? i + 1 : not_found;
        }
    }
    return not_found;
}

token lexer::quoted_name(token_kind kind, std::size_t begin, std::size_t body) noexcept {
    for (;;) {
        const auto quote = sql_.find('"', body);
        if (quote == std::string_view::npos) {
            complete_ = false;
            pos_ = sql_.size();
            break;
        }
        if (at(quote + 1) != '"') {
            pos_ = quote + 1;
            break;
        }
        body = quote + 2;
    }
    return token_from(kind, begin);
}

token lexer::dollar(std::size_t begin) noexcept {
    pos_ = begin + 1;
    if (is_digit(at(pos_))) {
        std::uint32_t n = 0;
        for (; is_digit(at(pos_)); ++pos_) {
            constexpr std::uint32_t cap = 100'000'000;
            n = n >= cap ? cap : n * 10 + static_cast<std::uint32_t>(sql_[pos_] - '0');
        }
        auto result = token_from(token_kind::parameter, begin);
        result.parameter = n;
        return result;
    }
    auto tag_end = pos_;
    while (tag_end < sql_.size() && sql_[tag_end] != '$' && continues_word(sql_[tag_end])) {
        ++tag_end;
    }
    if (at(tag_end) != '$') {
        return token_from(token_kind::other, begin);
    }
    const auto tag = sql_.substr(begin, tag_end + 1 - begin);
    const auto close = sql_.find(tag, tag_end + 1);
    complete_ = complete_ && close != std::string_view::npos;
    pos_ = close == std::string_view::npos ? sql_.size() : close + tag.size();
    return token_from(token_kind::string, begin);
}

token lexer::number(std::size_t begin) noexcept {
    const auto digits = [this] {
        while (is_digit(at(pos_)) || (at(pos_) == '_' && is_digit(at(pos_ + 1)))) {
            ++pos_;
        }
    };
    digits();
    // "1..2" is 1, two dots, 2.
    if (at(pos_) == '.' && at(pos_ + 1) != '.') {
        ++pos_;
        digits();
    }
    if (fold(at(pos_)) == 'e') {
        const auto sign = at(pos_ + 1) == '+' || at(pos_ + 1) == '-' ? pos_ + 2 : pos_ + 1;
        if (is_digit(at(sign))) {
            pos_ = sign;
            digits();
        }
    }
    return token_from(token_kind::number, begin);
}

token lexer::operator_run(std::size_t begin) noexcept {
    pos_ = begin + 1;
    while (pos_ < sql_.size() && class_of(sql_[pos_]) == byte_class::op) {
        const bool comment = (sql_[pos_] == '-' && at(pos_ + 1) == '-') ||
                             (sql_[pos_] == '/' && at(pos_ + 1) == '*');
        if (comment) {
            break;
        }
        ++pos_;
    }
    const auto sign_at_end = [&] { return sql_[pos_ - 1] == '+' || sql_[pos_ - 1] == '-'; };
    while (pos_ - begin > 1 && sign_at_end() && !may_end_in_sign(sql_.substr(begin, pos_ - begin))
    ) {
        --pos_;
    }
    return token_from(token_kind::op, begin);
}

}  // namespace weir::routing
