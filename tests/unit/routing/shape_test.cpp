#include "routing/shape.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

namespace {

bool same(std::string_view a, std::string_view b) {
    const auto x = scan(a);
    const auto y = scan(b);
    CHECK((x.hi == y.hi && x.lo == y.lo) == x.same_as(y));
    return x.same_as(y);
}

struct pair_case {
    const char* a;
    const char* b;
};

// A statement as pieces; in those with several choices each choice is a value of the same
// literal.
struct piece {
    bool literal;
    std::vector<std::string> choices;
};

const std::vector<piece> statement_pieces = {
    {false, {"SELECT"}},  {false, {"a"}},
    {false, {","}},       {true, {"'x'", "'it''s'", "E'\\'; DROP'", "$q$ -- $q$", "U&'\\0041'"}},
    {false, {"FROM"}},    {false, {"\"T\""}},
    {false, {"WHERE"}},   {false, {"b"}},
    {false, {"="}},       {true, {"1", "2.5", ".5e-7", "1000000"}},
    {false, {"AND"}},     {false, {"c"}},
    {false, {"<->"}},     {false, {"$1"}},
    {false, {"<"}},       {true, {"'[1,2]'", "''", "'[]'\n'x'"}},
    {false, {"::"}},      {false, {"vector"}},
    {false, {"AND"}},     {false, {"f"}},
    {false, {"("}},       {true, {"B'0'", "x'ff'"}},
    {false, {")"}},       {false, {"LIMIT"}},
    {true, {"1", "100"}},
};
const std::vector<std::string> changes = {
    "x",
    "y1",
    "\"T2\"",
    "$s$s$s$",
    "7",
    "$2",
    "$9",
    "<=>",
    "+",
    "(",
    ")",
    "NULL",
    ".",
    "FOR",
    "B'1'",
    ";",
};
const std::array<const char*, 4> gaps = {" ", "\n", " /* c */ ", " -- d\n\t"};

}  // namespace

TEST_SUITE_BEGIN("routing.shape");

TEST_CASE("The stable hash never changes") {
    CHECK(to_string(scan("SELECT 1")) == "d1f7666649f89d859ea739faade882fd");
    CHECK(to_string(scan("select 2")) == "d1f7666649f89d859ea739faade882fd");
    CHECK(to_string(scan("")) == to_string(scan(" /* nothing */ ")));
    CHECK(
        to_string(scan("SELECT id FROM items WHERE name = 'a' AND n > $1")) ==
        "3c7a526410e9aad7c08f5b500320cf81"
    );
}

TEST_CASE("Values and layout do not matter") {
    constexpr pair_case cases[] = {
        {"SELECT 1", "SELECT 99.5e10"},
        {"SELECT 'a'", "SELECT E'\\'b'"},
        {"SELECT 'a'", "SELECT $x$ any 'thing' $x$"},
        {"SELECT 'a'", "SELECT U&'\\0041'"},
        {"SELECT 'a'", "SELECT 'a'\n'b'"},
        {"SELECT B'1'", "SELECT X'FF'"},
        {"SELECT a FROM t", "select  A\nfrom\tT -- end"},
        {"SELECT a FROM t", "/* x */ SELECT/**/a FROM t"},
        {"SELECT * FROM t LIMIT 10", "SELECT * FROM t LIMIT 20"},
        {"SELECT a<1", "SELECT a < 1"},
        {"SELECT * FROM t WHERE a IN (1, 2, 3)", "SELECT * FROM t WHERE a IN (4)"},
        {"SELECT * FROM t WHERE a IN ('x', 'y')", "SELECT * FROM t WHERE a IN ('z')"},
        {"SELECT * FROM t WHERE a IN ($1, $2, $3)", "SELECT * FROM t WHERE a IN ($1, $2)"},
        {"SELECT ARRAY[1, 2]", "SELECT ARRAY[3, 4, 5]"},
        {"UPDATE t SET a = 1 WHERE b = 'x'", "UPDATE t SET a = 2 WHERE b = 'y'"},
        {"INSERT INTO t VALUES (1, 2)", "INSERT INTO t VALUES (3, 4)"},
        {"(SELECT 1)", "(SELECT 2)"},
        {"WITH a AS (SELECT 1) SELECT 2", "WITH a AS (SELECT 3) SELECT 4"},
        {"SELECT 1; SELECT 'a'", "SELECT 2; SELECT 'b'"},
        {"SELECT e <-> '[1,2]' FROM t", "SELECT e <-> '[3,4,5,6]' FROM t"},
        {"SELECT set_config('a', 'b', false)", "SELECT set_config('c', 'd', false)"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.a));
        CAPTURE(std::string(c.b));
        CHECK(same(c.a, c.b));
    }
}

TEST_CASE("Whatever can change the class matters") {
    constexpr pair_case cases[] = {
        {"SELECT 1", "SELECT 'a'"},
        {"SELECT 'a'", "SELECT B'1'"},
        {"SELECT 'a'", "SELECT N'a'"},
        {"SELECT 1", "SELECT -1"},
        {"SELECT 1", "SELECT $1"},
        {"SELECT $1", "SELECT $2"},
        {"SELECT 1", "SELECT NULL"},
        {"SELECT a", "SELECT b"},
        {"SELECT a", "SELECT \"a\""},
        {"SELECT \"a\"", "SELECT \"A\""},
        {"SELECT \"a\"\"b\"", "SELECT \"ab\""},
        {"SELECT 1 LIMIT 10", "SELECT 1 LIMIT $1"},
        {"SELECT 1 LIMIT 10", "SELECT 1 LIMIT ALL"},
        {"SELECT 1 LIMIT 10", "SELECT 1 LIMIT NULL"},
        {"SELECT a < b", "SELECT a <= b"},
        {"SELECT a <-> b", "SELECT a <=> b"},
        {"SELECT 'a'::text", "SELECT 'a'::regclass"},
        {"SELECT * FROM t", "SELECT * FROM t FOR UPDATE"},
        {"SELECT a b", "SELECT ab"},
        {"SELECT a.b", "SELECT a, b"},
        {"SELECT 1, 2", "SELECT 1"},
        {"SELECT f(1)", "SELECT f('a')"},
        {"SELECT f(1, 'a')", "SELECT f(1)"},
        {"SELECT f($1, $2)", "SELECT f($1, $3)"},
        {"SELECT * FROM t WHERE a IN (1, 2)", "SELECT * FROM t WHERE a IN (1, b)"},
        {"SELECT * FROM t WHERE a IN (1, -2)", "SELECT * FROM t WHERE a IN (1)"},
        {"SELECT f(1,)", "SELECT f(1)"},
        {"SELECT f(1,", "SELECT f(1"},
        {"SELECT 1 ORDER BY 1", "SELECT 1 ORDER BY 2"},
        {"SELECT current_setting('a.b')", "SELECT current_setting('transaction_read_only')"},
        {"SELECT \"current_setting\"('a.b')", "SELECT \"current_setting\"('x.y')"},
        {"SELECT U&\"d!0061\" UESCAPE '!'", "SELECT U&\"d!0061\" UESCAPE '?'"},
        {"SELECT 1", "SELECT 1;"},
        {"SELECT 1; SELECT 2", "SELECT 1, SELECT 2"},
        {"SELECT 'a' 'b'", "SELECT 'a'\n'b'"},
        {"SELECT 0x1F", "SELECT 0x2F"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.a));
        CAPTURE(std::string(c.b));
        CHECK_FALSE(same(c.a, c.b));
    }
}

TEST_CASE("Literals of utility statements are part of the shape") {
    constexpr pair_case cases[] = {
        {"EXPLAIN (ANALYZE 1) DELETE FROM t", "EXPLAIN (ANALYZE 0) DELETE FROM t"},
        {"SET a TO 'x'", "SET a TO 'y'"},
        {"SET a TO 1, 2", "SET a TO 1"},
        {"PREPARE p AS SELECT 1", "PREPARE p AS SELECT 2"},
        {"COPY t FROM '/a'", "COPY t FROM '/b'"},
        {"SELECT 1; SET a = 1", "SELECT 1; SET a = 2"},
        {"EXECUTE p (1, 2)", "EXECUTE p (1)"},
        {"FETCH 5 FROM c", "FETCH 6 FROM c"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.a));
        CAPTURE(std::string(c.b));
        CHECK_FALSE(same(c.a, c.b));
    }
    CHECK(same("SET a = 1; SELECT 1", "SET a = 1; SELECT 2"));
}

TEST_CASE("A hint is part of the shape but not its token") {
    CHECK_FALSE(same("SELECT 1 /* pgweir: target=replica */", "SELECT 1"));
    CHECK_FALSE(
        same("SELECT 1 /* pgweir: target=replica */", "SELECT 1 /* pgweir: target=primary */")
    );
    CHECK(same("SELECT 1 /* pgweir: target=replica */", "/*pgweir:TARGET=replica*/ SELECT 1"));
    CHECK(same("SELECT 1 /* pgweir: token=abc */", "SELECT 1 /* pgweir: token=def */"));
    CHECK_FALSE(same("SELECT 1 /* pgweir: token=abc */", "SELECT 1"));
    CHECK(same("SELECT 1 /* other: a */", "SELECT 1 /* b */"));
    CHECK_FALSE(same("SELECT 1 /* pgweir: a b */", "SELECT 1 /* pgweir: ab */"));
}

TEST_CASE("Statements and the first word are told") {
    struct first_case {
        const char* sql;
        std::uint16_t statements;
        first_word first;
    };

    constexpr first_case cases[] = {
        {"", 0, first_word::none},
        {" ; ;", 0, first_word::none},
        {"-- a", 0, first_word::none},
        {"SELECT 1", 1, first_word::select},
        {";SELECT 1;", 1, first_word::select},
        {"sElEcT 1; ; DELETE FROM t", 2, first_word::select},
        {"(SELECT 1)", 1, first_word::parenthesis},
        {"delete from t", 1, first_word::remove},
        {"BEGIN; COMMIT", 2, first_word::begin},
        {"explain select 1", 1, first_word::explain},
        {"VACUUM", 1, first_word::other},
        {"'a'", 1, first_word::other},
        {"\"select\" 1", 1, first_word::other},
        {"/* pgweir: x */ LISTEN a", 1, first_word::listen},
        {"DEALLOCATE ALL", 1, first_word::deallocate},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        const auto shape = scan(c.sql);
        CHECK(shape.statements == c.statements);
        CHECK(shape.first == c.first);
        CHECK(shape.complete);
    }
    std::string many;
    for (int i = 0; i < 70'000; ++i) {
        many += "a;";
    }
    CHECK(scan(many).statements == 65'535);
}

TEST_CASE("An unfinished text says so and a hint is pointed at") {
    CHECK_FALSE(scan("SELECT 'a").complete);
    CHECK_FALSE(scan("SELECT 1 /* a").complete);
    CHECK(scan("SELECT 'a\\' b'", {.standard_conforming_strings = false}).complete);
    CHECK_FALSE(scan("SELECT 'a\\'", {.standard_conforming_strings = false}).complete);
    CHECK(scan("SELECT 1 /* pgweir: a=b */").hint == text_span{20, 3});
    CHECK(scan("SELECT 1").hint == text_span{});
}

TEST_CASE("A vector literal of 60 kB is one literal") {
    std::string vector = "'[";
    while (vector.size() < 60'000) {
        vector += "0.12345,";
    }
    vector += "1]'";
    const auto sql = "SELECT id FROM items ORDER BY e <-> " + vector + " LIMIT 10";
    CHECK(same(sql, "SELECT id FROM items ORDER BY e <-> '[1]' LIMIT 5"));
    CHECK(same("SELECT E" + vector, "SELECT ''"));
    CHECK(same("SELECT $v$" + vector + "$v$", "SELECT ''"));
}

TEST_CASE("Backslashes without end cost no more than the text is long") {
    std::string sql = "SELECT E'";
    sql.append(4'000'000, '\\');
    CHECK_FALSE(scan(sql + "\\'").complete);
    CHECK(scan(sql + "'").complete);
}

TEST_CASE("Every random change that is no value gives another shape") {
    const auto& statement = statement_pieces;
    std::mt19937 random(7);
    const auto below = [&random](std::size_t n) { return random() % n; };
    const auto write = [&](const std::vector<piece>& pieces) {
        std::string sql;
        for (const auto& p : pieces) {
            sql += p.choices[below(p.choices.size())] + gaps[below(gaps.size())];
        }
        return sql;
    };
    const auto original = scan(write(statement));
    int different = 0;
    for (int round = 0; round < 5'000; ++round) {
        CHECK(scan(write(statement)).same_as(original));
        auto changed = statement;
        const auto at = below(changed.size());
        const auto& by = changes[below(changes.size())];
        switch (below(3)) {
        case 0: changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at)); break;
        case 1:
            changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at), {false, {by}});
            break;
        default: changed[at] = {false, {by}}; break;
        }
        const auto sql = write(changed);
        const bool kept_kind =
            changed.size() == statement.size() && statement[at].literal &&
            scan("SELECT " + by).same_as(scan("SELECT " + statement[at].choices[0]));
        const bool kept_text =
            changed.size() == statement.size() && changed[at].choices == statement[at].choices;
        if (!kept_kind && !kept_text) {
            CAPTURE(sql);
            CHECK_FALSE(scan(sql).same_as(original));
            ++different;
        }
    }
    CHECK(different > 4'000);
}

TEST_CASE("Shapes of many statements do not meet") {
    std::vector<std::uint64_t> seen;
    for (int i = 0; i < 20'000; ++i) {
        const auto shape = scan("SELECT c" + std::to_string(i) + " FROM t" + std::to_string(i % 7));
        seen.push_back(shape.lo);
        seen.push_back(shape.hi);
    }
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}

TEST_SUITE_END();

}  // namespace weir::routing
