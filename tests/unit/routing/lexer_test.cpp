#include "routing/lexer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

namespace {

std::string_view letter_of(token_kind kind) {
    switch (kind) {
    case token_kind::end: return "end";
    case token_kind::word: return "w";
    case token_kind::quoted_name: return "q";
    case token_kind::unicode_name: return "u";
    case token_kind::string: return "s";
    case token_kind::national_string: return "n";
    case token_kind::bit_string: return "b";
    case token_kind::number: return "1";
    case token_kind::parameter: return "p";
    case token_kind::op: return "o";
    case token_kind::mark: return "m";
    case token_kind::other: return "x";
    }
    return "?";
}

// Every token as kind{text}; "open" at the end if the text stops in the middle of one.
std::string tokens_of(std::string_view sql, bool standard_conforming_strings = true) {
    std::string result;
    lexer lex(sql, standard_conforming_strings);
    for (auto t = lex.next(); t.kind != token_kind::end; t = lex.next()) {
        result += std::string(result.empty() ? "" : " ") + std::string(letter_of(t.kind)) + "{" +
                  std::string(t.in(sql)) + "}";
    }
    return lex.complete() ? result : result + " open";
}

std::string hint_of(std::string_view sql) {
    lexer lex(sql);
    while (lex.next().kind != token_kind::end) {
    }
    return std::string(sql.substr(lex.hint().offset, lex.hint().length));
}

struct odd_case {
    const char* sql;
    const char* tokens;
};

}  // namespace

TEST_SUITE_BEGIN("routing.lexer");

TEST_CASE("Strings end where PostgreSQL ends them") {
    constexpr odd_case cases[] = {
        {"'a' b", "s{'a'} w{b}"},
        {"'it''s' b", "s{'it''s'} w{b}"},
        {"'a\\' b", "s{'a\\'} w{b}"},
        {"E'a\\' b'", "s{E'a\\' b'}"},
        {"e'\\\\' b", "s{e'\\\\'} w{b}"},
        {"E'a''b' c", "s{E'a''b'} w{c}"},
        {"E'a''\\'b' c", "s{E'a''\\'b'} w{c}"},
        {"E 'a' b", "w{E} s{'a'} w{b}"},
        {"N'a''b'", "n{N'a''b'}"},
        {"B'01'", "b{B'01'}"},
        {"x'1F'", "b{x'1F'}"},
        {"B'1''0'", "b{B'1'} s{'0'}"},
        {"U&'\\0041' UESCAPE '!'", "s{U&'\\0041'} w{UESCAPE} s{'!'}"},
        {"u&'a\\' b", "s{u&'a\\'} w{b}"},
        {"U &'a'", "w{U} o{&} s{'a'}"},
        {"fooE'a'", "w{fooE} s{'a'}"},
        {"'a'\n'b' c", "s{'a'\n'b'} w{c}"},
        {"'a'  \t\r 'b'", "s{'a'  \t\r 'b'}"},
        {"'a' 'b'", "s{'a'} s{'b'}"},
        {"'a' -- note\n 'b'", "s{'a' -- note\n 'b'}"},
        {"'a' /* note */\n 'b'", "s{'a'} s{'b'}"},
        {"E'a'\n'\\'' c", "s{E'a'\n'\\''} w{c}"},
        {"'a'\nE'b'", "s{'a'} s{E'b'}"},
        {"B'1'\n'0'", "b{B'1'\n'0'}"},
        {"''", "s{''}"},
        {"''''", "s{''''}"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        CHECK(tokens_of(c.sql) == c.tokens);
    }
}

TEST_CASE("A backslash escapes in plain strings when they do not conform to the standard") {
    CHECK(tokens_of("'a\\' b' c", false) == "s{'a\\' b'} w{c}");
    CHECK(tokens_of("N'a\\' b' c", false) == "n{N'a\\' b'} w{c}");
    CHECK(tokens_of("'a\\\\' b", false) == "s{'a\\\\'} w{b}");
}

TEST_CASE("Dollar quotes end at their own tag only") {
    constexpr odd_case cases[] = {
        {"$$a'b$$ c", "s{$$a'b$$} w{c}"},
        {"$x$ $$ $y$ $x$ c", "s{$x$ $$ $y$ $x$} w{c}"},
        {"$x$$x$", "s{$x$$x$}"},
        {"$x$ $$x$", "s{$x$ $$x$}"},
        {"$X$ $x$ $X$", "s{$X$ $x$ $X$}"},
        {"$1$", "p{$1} x{$}"},
        {"$1a", "p{$1} w{a}"},
        {"$ 1", "x{$} 1{1}"},
        {"a$b$c", "w{a$b$c}"},
        {"$a-$b c", "x{$} w{a} o{-} x{$} w{b} w{c}"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        CHECK(tokens_of(c.sql) == c.tokens);
    }
}

TEST_CASE("Names keep their quotes and words their dollar signs") {
    constexpr odd_case cases[] = {
        {"\"a\"\"b\" c", "q{\"a\"\"b\"} w{c}"},
        {"\"a'b\" c", "q{\"a'b\"} w{c}"},
        {"U&\"d\\0061t\" x", "u{U&\"d\\0061t\"} w{x}"},
        {"a.\"B\".c", "w{a} m{.} q{\"B\"} m{.} w{c}"},
        {"t$1", "w{t$1}"},
        {"\xc3\xa9t\xc3\xa9", "w{\xc3\xa9t\xc3\xa9}"},
        {"_a1", "w{_a1}"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        CHECK(tokens_of(c.sql) == c.tokens);
    }
}

TEST_CASE("Numbers take their fraction and exponent but not the dots of a range") {
    constexpr odd_case cases[] = {
        {"1", "1{1}"},
        {"1.5", "1{1.5}"},
        {".5", "1{.5}"},
        {"1.", "1{1.}"},
        {"1e5", "1{1e5}"},
        {"1E-5", "1{1E-5}"},
        {"1.5e+10", "1{1.5e+10}"},
        {"1e", "1{1} w{e}"},
        {"1e+", "1{1} w{e} o{+}"},
        {"1..2", "1{1} o{..} 1{2}"},
        {"1.5.3", "1{1.5} 1{.3}"},
        {"1_000", "1{1_000}"},
        {"0x1F", "1{0} w{x1F}"},
        {"-1", "o{-} 1{1}"},
        {"a.5", "w{a} 1{.5}"},
        {"$2", "p{$2}"},
        {"1for", "1{1} w{for}"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        CHECK(tokens_of(c.sql) == c.tokens);
    }
}

TEST_CASE("Operators end before a comment and give back a sign they may not end in") {
    constexpr odd_case cases[] = {
        {"a<-1", "w{a} o{<} o{-} 1{1}"},
        {"a<->b", "w{a} o{<->} w{b}"},
        {"a @- b", "w{a} o{@-} w{b}"},
        {"a+-1", "w{a} o{+} o{-} 1{1}"},
        {"a--1\n+2", "w{a} o{+} 1{2}"},
        {"a*--x\n2", "w{a} o{*} 1{2}"},
        {"a*/*x*/2", "w{a} o{*} 1{2}"},
        {"a<=>b", "w{a} o{<=>} w{b}"},
        {"a::b", "w{a} o{::} w{b}"},
        {"a:=1", "w{a} o{:=} 1{1}"},
        {"a[1:2]", "w{a} m{[} 1{1} m{:} 1{2} m{]}"},
        {"f(*)", "w{f} m{(} o{*} m{)}"},
        {"a=-b", "w{a} o{=} o{-} w{b}"},
        {"a|-b", "w{a} o{|-} w{b}"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        CHECK(tokens_of(c.sql) == c.tokens);
    }
}

TEST_CASE("Comments nest and hide whatever is in them") {
    constexpr odd_case cases[] = {
        {"a /* b */ c", "w{a} w{c}"},
        {"a /* b /* c */ d */ e", "w{a} w{e}"},
        {"a /* ' */ b", "w{a} w{b}"},
        {"a -- ' \n b", "w{a} w{b}"},
        {"a -- b\r c", "w{a} w{c}"},
        {"a --", "w{a}"},
        {"a /**/ b", "w{a} w{b}"},
        {"a /*/ b */ c", "w{a} w{c}"},
        {"a /* -- */ b", "w{a} w{b}"},
        {"/* a", " open"},
        {"/* a /* b */", " open"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        CHECK(tokens_of(c.sql) == c.tokens);
    }
}

TEST_CASE("A text that stops inside a token is not complete") {
    for (const auto* sql :
         {"'a",
          "E'a\\'",
          "E'\\",
          "\"a",
          "$$a",
          "$x$a$y$",
          "B'1",
          "U&'a",
          "U&\"a",
          "N'",
          "'a'\n'b"}) {
        CAPTURE(sql);
        lexer lex(sql);
        while (lex.next().kind != token_kind::end) {
        }
        CHECK_FALSE(lex.complete());
    }
}

TEST_CASE("The first hint is found and its blanks are cut off") {
    CHECK(hint_of("SELECT 1 /* pgweir: consistency=strong */") == "consistency=strong");
    CHECK(hint_of("/*pgweir:a=b*/ SELECT 1") == "a=b");
    CHECK(hint_of("/*  PgWeir:\n a=b \t */ SELECT 1") == "a=b");
    CHECK(hint_of("/* pgweir: a */ SELECT /* pgweir: b */ 1") == "a");
    CHECK(hint_of("/* note: pgweir: a */ SELECT 1").empty());
    CHECK(hint_of("SELECT '/* pgweir: a */'").empty());
    CHECK(hint_of("-- pgweir: a\nSELECT 1").empty());
    CHECK(hint_of("/* pgweir: a").empty());
    CHECK(hint_of("/* pgweir */ SELECT 1").empty());
}

TEST_SUITE_END();

}  // namespace weir::routing
