#include "proxy/console/lexer.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace weir::proxy::console;

namespace {

// Commands as "[kind:text kind:text]", w word, q quoted, s string, y symbol.
std::string show(const lexed& what) {
    std::string text = what.error.empty() ? "" : "error: " + what.error;
    for (const auto& command : what.commands) {
        text += "[";
        for (const auto& each : command) {
            text += text.back() == '[' ? "" : " ";
            text += "wqsy"[static_cast<int>(each.kind)];
            text += ":" + each.text;
        }
        text += "]";
    }
    return text;
}

struct example {
    const char* text;
    const char* cut;
};

}  // namespace

TEST_SUITE_BEGIN("proxy.console_lexer");

TEST_CASE("a text is cut into commands and tokens") {
    const example examples[] = {
        {"", ""},
        {" ;; \n ; ", ""},
        {"show pools", "[w:show w:pools]"},
        {"SHOW POOLS;", "[w:SHOW w:POOLS]"},
        {"show pools; reload", "[w:show w:pools][w:reload]"},
        {"SHOW STATS_TOTALS", "[w:SHOW w:STATS_TOTALS]"},
        {"set a.b = 'x'", "[w:set w:a.b y:= s:x]"},
        {"show route 'select 1; select 2'", "[w:show w:route s:select 1; select 2]"},
        {"show route 'it''s'", "[w:show w:route s:it's]"},
        {"show route 'a\\'", "[w:show w:route s:a\\]"},
        {"show route E'a\\'b\\n'", "[w:show w:route s:a'b\n]"},
        {"show route $$it's$$", "[w:show w:route s:it's]"},
        {"show route $q$a $$ b$q$ for x", "[w:show w:route s:a $$ b w:for w:x]"},
        {"for \"My \"\"db\"\"\" u", "[w:for q:My \"db\" w:u]"},
        {"show -- pools\nclients", "[w:show w:clients]"},
        {"show--pools", "[w:show]"},
        {"show /* a /* b */ ; c */ clients", "[w:show w:clients]"},
        {"show $1", "[w:show y:$ w:1]"},
        {"show exe", "[w:show w:exe]"},
    };
    for (const auto& e : examples) {
        CAPTURE(e.text);
        CHECK(show(cut(e.text)) == e.cut);
    }
}

TEST_CASE("what does not end is an error and no command") {
    const example examples[] = {
        {"reload; show route 'a", "error: unterminated quoted string"},
        {"show route E'a\\'", "error: unterminated quoted string"},
        {"show \"a", "error: unterminated quoted identifier"},
        {"show route $a$b$", "error: unterminated dollar-quoted string"},
        {"reload /* x", "error: unterminated /* comment"},
        {"reload /*/", "error: unterminated /* comment"},
    };
    for (const auto& e : examples) {
        CAPTURE(e.text);
        CHECK(show(cut(e.text)) == e.cut);
    }
}

TEST_CASE("words are compared without case and strings never") {
    CHECK(is_word({token_kind::word, "ShOw"}, "SHOW"));
    CHECK_FALSE(is_word({token_kind::string, "SHOW"}, "SHOW"));
    CHECK_FALSE(is_word({token_kind::quoted, "SHOW"}, "SHOW"));
    CHECK_FALSE(is_word({token_kind::word, "SHOWS"}, "SHOW"));
}

TEST_SUITE_END();
