#include "routing/lexer.hpp"

#include <doctest/doctest.h>
#include <pg_query.h>
#include <pg_query/pg_query.pb-c.h>

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::routing {

namespace {

using border = std::pair<std::size_t, std::size_t>;

// What PostgreSQL's own scanner says; empty and false if it refuses the text.
struct oracle_answer {
    bool accepted = false;
    std::vector<border> tokens;
};

oracle_answer ask_postgres(const std::string& sql) {
    oracle_answer answer;
    auto raw = pg_query_scan(sql.c_str());
    if (raw.error == nullptr) {
        answer.accepted = true;
        auto* scanned = pg_query__scan_result__unpack(
            nullptr,
            raw.pbuf.len,
            reinterpret_cast<const std::uint8_t*>(raw.pbuf.data)
        );
        REQUIRE(scanned != nullptr);
        for (std::size_t i = 0; i < scanned->n_tokens; ++i) {
            const auto& t = *scanned->tokens[i];
            if (t.token != PG_QUERY__TOKEN__SQL_COMMENT && t.token != PG_QUERY__TOKEN__C_COMMENT) {
                answer.tokens.emplace_back(t.start, t.end);
            }
        }
        pg_query__scan_result__free_unpacked(scanned, nullptr);
    }
    pg_query_free_scan_result(raw);
    return answer;
}

std::vector<border> ask_lexer(std::string_view sql, bool& complete) {
    std::vector<border> tokens;
    lexer lex(sql);
    for (auto t = lex.next(); t.kind != token_kind::end; t = lex.next()) {
        // PostgreSQL has the N of N'…' for a keyword of its own.
        const auto begin = t.kind == token_kind::national_string ? t.begin + 1 : t.begin;
        if (begin != t.begin) {
            tokens.emplace_back(t.begin, begin);
        }
        tokens.emplace_back(begin, t.end);
    }
    complete = lex.complete();
    return tokens;
}

// libpg_query's scanner makes tokens of comments, so a string does not go on behind one as it does
// in PostgreSQL.
bool continues_behind_comment(std::string_view sql, const std::vector<border>& tokens) {
    for (std::size_t i = 1; i < tokens.size(); ++i) {
        const auto gap = sql.substr(tokens[i - 1].second, tokens[i].first - tokens[i - 1].second);
        const bool strings = sql[tokens[i - 1].second - 1] == '\'' && sql[tokens[i].first] == '\'';
        if (strings && gap.find("--") != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

std::string print(std::string_view sql, const std::vector<border>& tokens) {
    std::string text;
    for (const auto& [begin, end] : tokens) {
        text += "[" + std::string(sql.substr(begin, end - begin)) + "]";
    }
    return text;
}

}  // namespace

TEST_SUITE_BEGIN("routing.lexer_oracle");

TEST_CASE("Token borders of random text are those of PostgreSQL's scanner") {
    constexpr std::array<std::string_view, 56> pieces = {
        "a",    "E",    "e'",       "B'",     "x'",    "n'",      "b'",  "N'",  "'",   "''",
        "\"",   "\"\"", "\\",       "\\'",    "$$",    "$a$",     "$1",  "$23", "$",   "--",
        "/*",   "*/",   "\n",       " ",      "\t",    "+",       "-",   "*",   "/",   "<",
        ">",    "=",    "!",        "@",      "~",     ":",       "::",  ":=",  ".",   "..",
        ",",    "(",    ")",        "[",      ";",     "1",       "1.5", ".5",  "1e5", "1e",
        "1e-3", "_x1",  "\xc3\xa9", "select", "' \n'", "'\n\t '",
    };
    std::mt19937 random(20240607);
    std::size_t accepted = 0;
    for (int round = 0; round < 60'000; ++round) {
        std::string sql;
        const auto length = 1 + random() % 12;
        for (std::size_t i = 0; i < length; ++i) {
            sql += pieces[random() % pieces.size()];
        }
        const auto expected = ask_postgres(sql);
        if (!expected.accepted || continues_behind_comment(sql, expected.tokens)) {
            continue;
        }
        ++accepted;
        bool complete = false;
        const auto tokens = ask_lexer(sql, complete);
        if (tokens != expected.tokens || !complete) {
            CAPTURE(sql);
            CAPTURE(complete);
            CHECK(print(sql, tokens) == print(sql, expected.tokens));
            CHECK(complete);
        }
    }
    CHECK(accepted > 10'000);
}

TEST_SUITE_END();

}  // namespace weir::routing
