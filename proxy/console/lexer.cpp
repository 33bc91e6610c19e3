#include "proxy/console/lexer.hpp"

#include <utility>

namespace weir::proxy::console {

namespace {

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_word_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

class scanner {
public:
    explicit scanner(std::string_view text) : text_(text) {}

    lexed run() {
        while (error_.empty() && at_ < text_.size()) {
            step();
        }
        end_command();
        if (!error_.empty()) {
            return {.commands = {}, .error = std::move(error_)};
        }
        return {.commands = std::move(commands_), .error = {}};
    }

private:
    [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

    void step() {
        const char c = text_[at_];
        if (is_space(c)) {
            ++at_;
        } else if (rest().starts_with("--")) {
            skip_to(text_.find('\n', at_));
        } else if (rest().starts_with("/*")) {
            block_comment();
        } else if (c == ';') {
            ++at_;
            end_command();
        } else if (c == '\'' || c == '"') {
            quoted(c, false);
        } else if ((c == 'e' || c == 'E') && rest().substr(1).starts_with('\'')) {
            ++at_;
            quoted('\'', true);
        } else if (c == '$' && dollar_quoted()) {
            return;
        } else if (is_word_character(c)) {
            word();
        } else {
            add(token_kind::symbol, std::string(1, c));
            ++at_;
        }
    }

    void skip_to(std::size_t where) {
        at_ = where == std::string_view::npos ? text_.size() : where;
    }

    void block_comment() {
        int depth = 0;
        do {
            if (rest().starts_with("/*")) {
                ++depth;
                at_ += 2;
            } else if (rest().starts_with("*/")) {
                --depth;
                at_ += 2;
            } else if (++at_ >= text_.size()) {
                error_ = "unterminated /* comment";
                return;
            }
        } while (depth > 0);
    }

    // A doubled quote stands for one. With `escapes` a backslash makes the next character ordinary.
    void quoted(char quote, bool escapes) {
        std::string inside;
        for (++at_; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == quote && rest().substr(1).starts_with(quote)) {
                ++at_;
            } else if (c == quote) {
                ++at_;
                add(quote == '"' ? token_kind::quoted : token_kind::string, std::move(inside));
                return;
            } else if (escapes && c == '\\' && at_ + 1 < text_.size()) {
                inside += unescaped(text_[++at_]);
                continue;
            }
            inside += c;
        }
        error_ = quote == '"' ? "unterminated quoted identifier" : "unterminated quoted string";
    }

    static char unescaped(char c) {
        switch (c) {
        case 'n': return '\n';
        case 't': return '\t';
        case 'r': return '\r';
        default: return c;
        }
    }

    bool dollar_quoted() {
        const auto end = text_.find('$', at_ + 1);
        if (end == std::string_view::npos) {
            return false;
        }
        const auto tag = text_.substr(at_, end + 1 - at_);
        for (const char c : tag.substr(1, tag.size() - 2)) {
            if (!is_word_character(c) || c == '-' || c == '.') {
                return false;
            }
        }
        const auto close = text_.find(tag, end + 1);
        if (close == std::string_view::npos) {
            error_ = "unterminated dollar-quoted string";
            return true;
        }
        add(token_kind::string, std::string(text_.substr(end + 1, close - end - 1)));
        at_ = close + tag.size();
        return true;
    }

    void word() {
        const auto begin = at_;
        while (at_ < text_.size() && is_word_character(text_[at_]) && !rest().starts_with("--")) {
            ++at_;
        }
        add(token_kind::word, std::string(text_.substr(begin, at_ - begin)));
    }

    void add(token_kind kind, std::string text) {
        current_.push_back({.kind = kind, .text = std::move(text)});
    }

    void end_command() {
        if (!current_.empty()) {
            commands_.push_back(std::exchange(current_, {}));
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    tokens current_;
    std::vector<tokens> commands_;
    std::string error_;
};

}  // namespace

lexed cut(std::string_view text) {
    return scanner(text).run();
}

std::string upper(std::string_view text) {
    std::string made(text);
    for (char& c : made) {
        if (c >= 'a' && c <= 'z') {
            c = static_cast<char>(c - 'a' + 'A');
        }
    }
    return made;
}

bool is_word(const token& what, std::string_view upper_case) {
    return what.kind == token_kind::word && upper(what.text) == upper_case;
}

}  // namespace weir::proxy::console
