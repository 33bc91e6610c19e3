// Cuts the text of a console Query into commands and these into tokens, by PostgreSQL's rules for
// quotes, comments and semicolons. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::proxy::console {

enum class token_kind : std::uint8_t {
    word,    // keyword, name or number, as written
    quoted,  // "name", without its quotes
    string,  // 'text', E'text' or $tag$text$tag$, without its quotes
    symbol,  // one other character
};

struct token {
    token_kind kind = token_kind::word;
    std::string text;
    friend bool operator==(const token&, const token&) = default;
};

using tokens = std::vector<token>;

struct lexed {
    std::vector<tokens> commands;  // empty ones are left out
    std::string error;             // "unterminated quoted string"; then commands is empty
};

[[nodiscard]] lexed cut(std::string_view text);

// The same word or name, case aside; never true for a string.
[[nodiscard]] bool is_word(const token& what, std::string_view upper_case);

[[nodiscard]] std::string upper(std::string_view text);

}  // namespace weir::proxy::console
