#include "routing/sql_depth.hpp"

#include "routing/lexer.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace weir::routing {

namespace {

enum class word_role : std::uint8_t {
    plain,
    begins_element,  // what follows hangs beside what came before, not below
    deepens,         // nests within the current element
    deepens_level,   // nests within the whole bracket: a chain goes on behind a comma
    query,           // a query is three levels: statement, list element, sub-query
    opens,
    closes,
};

struct known_word {
    std::string_view text;
    word_role role;
};

constexpr std::array words = {
    known_word{"and", word_role::begins_element},
    known_word{"or", word_role::begins_element},
    known_word{"when", word_role::begins_element},
    known_word{"then", word_role::begins_element},
    known_word{"else", word_role::begins_element},
    known_word{"from", word_role::begins_element},
    known_word{"where", word_role::begins_element},
    known_word{"not", word_role::deepens},
    known_word{"is", word_role::deepens},
    known_word{"isnull", word_role::deepens},
    known_word{"notnull", word_role::deepens},
    known_word{"collate", word_role::deepens},
    known_word{"at", word_role::deepens},
    known_word{"like", word_role::deepens},
    known_word{"ilike", word_role::deepens},
    known_word{"similar", word_role::deepens},
    known_word{"between", word_role::deepens},
    known_word{"in", word_role::deepens},
    known_word{"join", word_role::deepens_level},
    known_word{"union", word_role::deepens_level},
    known_word{"except", word_role::deepens_level},
    known_word{"intersect", word_role::deepens_level},
    known_word{"select", word_role::query},
    known_word{"values", word_role::query},
    known_word{"with", word_role::query},
    known_word{"case", word_role::opens},
    known_word{"end", word_role::closes},
};

word_role role_of(std::string_view word) noexcept {
    for (const auto& known : words) {
        if (same_word(word, known.text)) {
            return known.role;
        }
    }
    return word_role::plain;
}

// One open bracket, CASE or the statement itself.
struct level {
    char opener = ';';
    std::size_t element = 0;
    std::size_t whole = 1;
    bool has_query = false;
};

class depth_count {
public:
    explicit depth_count(std::string_view sql) : sql_(sql), lexer_(sql) { levels_.emplace_back(); }

    std::size_t run() {
        for (auto t = lexer_.next(); t.kind != token_kind::end && total_ <= max_nesting;
             t = lexer_.next()) {
            on_token(t);
            deepest_ = std::max(deepest_, total_);
        }
        return deepest_;
    }

private:
    void on_token(const token& t) {
        switch (t.kind) {
        case token_kind::op: add_to_element(); break;
        case token_kind::mark: on_mark(sql_[t.begin]); break;
        case token_kind::word: on_word(t.in(sql_)); break;
        default: break;
        }
    }

    void on_mark(char c) {
        switch (c) {
        case '(':
        case '[': open(c); break;
        case ')': close('('); break;
        case ']': close('['); break;
        case ',': begin_element(); break;
        case ';':
            begin_element();
            total_ -= levels_.back().whole - 1;
            levels_.back() = level{levels_.back().opener};
            break;
        default: break;
        }
    }

    void on_word(std::string_view word) {
        switch (role_of(word)) {
        case word_role::plain: break;
        case word_role::begins_element: begin_element(); break;
        case word_role::deepens: add_to_element(); break;
        case word_role::deepens_level: add_to_level(1); break;
        case word_role::query: begin_query(); break;
        case word_role::opens: open('c'); break;
        case word_role::closes:
            if (levels_.back().opener == 'c') {
                pop();
            }
            break;
        }
    }

    void open(char opener) {
        levels_.push_back({opener});
        ++total_;
    }

    void close(char opener) {
        const bool is_open = std::any_of(levels_.begin(), levels_.end(), [opener](const level& l) {
            return l.opener == opener;
        });
        while (is_open && levels_.back().opener != opener) {
            pop();
        }
        if (is_open) {
            pop();
        }
    }

    void pop() {
        total_ -= levels_.back().element + levels_.back().whole;
        levels_.pop_back();
    }

    void add_to_element() {
        ++levels_.back().element;
        ++total_;
    }

    void add_to_level(std::size_t n) {
        levels_.back().whole += n;
        total_ += n;
    }

    // Further queries of the level are arms of UNION and the like, which count themselves.
    void begin_query() {
        add_to_level(levels_.back().has_query ? 0 : 3);
        levels_.back().has_query = true;
    }

    void begin_element() {
        total_ -= levels_.back().element;
        levels_.back().element = 0;
    }

    std::string_view sql_;
    lexer lexer_;
    std::vector<level> levels_;
    std::size_t total_ = 1;
    std::size_t deepest_ = 1;
};

}  // namespace

std::size_t nesting_bound(std::string_view sql) {
    return depth_count(sql).run();
}

}  // namespace weir::routing
