#include "routing/sql_parser.hpp"

#include "routing/sql_depth.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace weir::routing {

namespace {

std::string join(const std::vector<relation_name>& names) {
    std::string text;
    for (const auto& n : names) {
        text += (text.empty() ? "" : " ") + (n.schema.empty() ? "" : n.schema + ".") + n.name;
    }
    return text;
}

std::string join(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& n : names) {
        text += (text.empty() ? "" : " ") + n;
    }
    return text;
}

std::string repeat(std::string_view part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) {
        text += part;
    }
    return text;
}

struct name_case {
    const char* sql;
    const char* expected;
};

}  // namespace

TEST_SUITE_BEGIN("routing.sql_parser");

TEST_CASE("Relations are named once and WITH queries are none") {
    constexpr name_case cases[] = {
        {"SELECT * FROM a, s.b, a x JOIN c ON true", "a s.b c"},
        {"SELECT * FROM \"A\", A", "A a"},
        {"WITH a AS (SELECT * FROM b) SELECT * FROM a, c", "b c"},
        {"WITH a AS (SELECT * FROM b) SELECT * FROM s.a", "b s.a"},
        {"WITH a AS (SELECT * FROM a) SELECT * FROM a", "a"},
        {"WITH RECURSIVE a AS (SELECT * FROM a) SELECT * FROM a", ""},
        {"WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM b", "b"},
        {"WITH RECURSIVE a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM b", ""},
        {"SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a) s, a", "a"},
        {"WITH a AS (SELECT 1) SELECT * FROM (SELECT * FROM a) s", ""},
        {"WITH a AS (SELECT 1) INSERT INTO a SELECT * FROM a", "a"},
        {"UPDATE t SET x = 1 FROM u WHERE EXISTS (SELECT 1 FROM v)", "t v u"},
        {"SELECT * FROM a FOR UPDATE OF a", "a"},
        {"SELECT (SELECT 1 FROM b WHERE b.x IN (SELECT y FROM c)) FROM a", "b c a"},
        {"SELECT 1 FROM f(1) AS x", ""},
        {"COPY a TO STDOUT", "a"},
        {"LOCK a, b", "a b"},
        {"SELECT 1 FROM a; SELECT 1 FROM b", "a b"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        CHECK(join(parse(c.sql).value.relations) == std::string(c.expected));
    }
}

TEST_CASE("Functions are named wherever they are called") {
    constexpr name_case cases[] = {
        {"SELECT F(1), f(2), s.G(3), \"H\"()", "f s.g H"},
        {"SELECT count(*) FROM f() WHERE g() GROUP BY h() HAVING i() ORDER BY j()",
         "count f g h i j"},
        {"SELECT a FROM t LIMIT f() OFFSET g()", "g f"},
        {"SELECT a FROM t TABLESAMPLE s.m(1)", "s.m"},
        {"SELECT EXTRACT(year FROM d) FROM t", "pg_catalog.extract"},
        {"SELECT a AT TIME ZONE 'x' FROM t", "pg_catalog.timezone"},
        {"SELECT coalesce(a, f(b)) FROM t", "f"},
        {"SELECT sum(a) OVER (PARTITION BY f(b) ORDER BY g(c)) FROM t", "sum f g"},
        {"WITH x AS (SELECT f()) SELECT g() FROM x", "f g"},
        {"SELECT ARRAY[f()], ROW(g()), CASE WHEN h() THEN i() END", "f g h i"},
    };
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        auto functions = parse(c.sql).value.functions;
        CHECK(join(functions) == std::string(c.expected));
    }
}

TEST_CASE("Operators and types are named also where the syntax hides them") {
    constexpr name_case operators[] = {
        {"SELECT a + b * -c", "+ * -"},
        {"SELECT a OPERATOR(s.<->) b", "<->"},
        {"SELECT a FROM t WHERE a IN (1, 2)", "="},
        {"SELECT a FROM t WHERE a IN (SELECT 1)", "="},
        {"SELECT a FROM t WHERE a @> ANY (SELECT 1)", "@>"},
        {"SELECT a FROM t WHERE a LIKE 'x' AND b NOT ILIKE 'y'", "~~ !~~*"},
        {"SELECT a FROM t WHERE a BETWEEN 1 AND 2", ">= <="},
        {"SELECT a FROM t WHERE a NOT BETWEEN 1 AND 2", "< >"},
        {"SELECT CASE a WHEN 1 THEN 2 END FROM t", "="},
        {"SELECT 1 FROM a JOIN b USING (c)", "="},
        {"SELECT 1 FROM a NATURAL JOIN b", "="},
        {"SELECT a FROM t ORDER BY a USING ~<~", "~<~"},
        {"SELECT NULLIF(a, b), a IS DISTINCT FROM b", "="},
    };
    for (const auto& c : operators) {
        CAPTURE(std::string(c.sql));
        CHECK(join(parse(c.sql).value.operators) == std::string(c.expected));
    }
    constexpr name_case types[] = {
        {"SELECT a::vector, CAST(b AS s.t), c::int", "vector s.t pg_catalog.int4"},
        {"SELECT '[1]'::halfvec(3), date '2000-01-01'", "halfvec date"},
        {"SELECT * FROM f() AS x(a mytype)", "mytype"},
    };
    for (const auto& c : types) {
        CAPTURE(std::string(c.sql));
        CHECK(join(parse(c.sql).value.types) == std::string(c.expected));
    }
}

TEST_CASE("Texts that would nest too deeply are not parsed") {
    const std::array patterns = {
        "SELECT 1" + repeat("+1", 200'000),
        "SELECT 1" + repeat(" UNION SELECT 1", 60'000),
        "SELECT 1" + repeat(" UNION SELECT 1, 2", 60'000),
        "SELECT " + repeat("(", 400'000),
        "SELECT " + repeat("f(", 300'000) + repeat(")", 300'000),
        repeat("SELECT (", 100'000),
        repeat("SELECT * FROM (", 60'000),
        "SELECT " + repeat("NOT ", 200'000) + "a",
        "SELECT " + repeat("- ", 300'000) + "1",
        "SELECT 1" + repeat("::int", 150'000),
        "SELECT a" + repeat(" COLLATE x", 90'000),
        "SELECT a" + repeat(" AT TIME ZONE b", 60'000),
        "SELECT " + repeat("CASE WHEN a AND ", 60'000),
        "SELECT " + repeat("CASE a WHEN ", 60'000),
        "SELECT * FROM t" + repeat(" JOIN t ON a AND b", 50'000),
        "SELECT " + repeat("ARRAY[", 150'000),
        "SELECT " + repeat("[", 400'000),
        "SELECT a" + repeat(" || b, c || d", 1) + repeat(" || b", 150'000),
    };
    for (const auto& sql : patterns) {
        CAPTURE(sql.substr(0, 40));
        const auto result = parse(sql);
        CHECK(result.value.kind == statement_kind::unparsed);
        CHECK(result.error == "nested too deeply");
    }
}

TEST_CASE("Long texts that are flat are parsed") {
    const std::array patterns = {
        "SELECT 1 FROM t WHERE a IN (1" + repeat(", 2", 100'000) + ")",
        "SELECT 1 FROM t WHERE a = 1" + repeat(" OR a = 2", 5'000),
        "SELECT 1 FROM t WHERE (a = 1 AND b = 2)" + repeat(" OR (a = 2 AND b = 3)", 5'000),
        "SELECT 1" + repeat(" UNION ALL SELECT 1", 900),
        "SELECT 1" + repeat("; SELECT 1 + 1", 5'000),
        "VALUES (1 + 1)" + repeat(", (2 * 3)", 10'000),
        "SELECT 1" + repeat(" + 1", 900),
        "SELECT " + repeat("(", 900) + "1" + repeat(")", 900),
        repeat("SELECT (", 240) + "SELECT 1" + repeat(")", 240),
        "SELECT " + repeat("CASE WHEN a THEN 1 ELSE ", 300) + "2" + repeat(" END", 300),
        "SELECT CASE a WHEN 1 THEN 2" + repeat(" WHEN 3 + 4 THEN 5 + 6", 5'000) + " END",
    };
    for (const auto& sql : patterns) {
        CAPTURE(sql.substr(0, 40));
        CHECK(parse(sql).error == "");
        CHECK(parse(sql).value.reason == primary_reason::none);
    }
}

TEST_CASE("A text with a zero byte is refused") {
    using namespace std::string_literals;
    CHECK(parse("SELECT 1\0; DELETE FROM t"s).value.kind == statement_kind::unparsed);
}

TEST_CASE("Traits of a text that is not parsed tell what its words hint at") {
    const auto value = unparsed_traits("SELECT 1");
    CHECK(value.kind == statement_kind::unparsed);
    CHECK(value.reason == primary_reason::unparsed);
    CHECK(value.pin == pin_reason::unparsed);
    CHECK(unparsed_traits("create temp table x (a int)").pin == pin_reason::temporary_table);
    CHECK(unparsed_traits("insert into x values ('temp')").pin == pin_reason::unparsed);
    CHECK(
        unparsed_traits("SELECT 1; set application_name = '\xe9'").pin ==
        pin_reason::setting_unknown
    );
    CHECK(unparsed_traits("RESET x y").pin == pin_reason::setting_unknown);
    CHECK(
        unparsed_traits("select set_config('a.b', '\\', false)").pin == pin_reason::setting_unknown
    );
    CHECK(unparsed_traits("UPDATE t SET a = '\\'").pin == pin_reason::unparsed);
    // One way to read backslashes hides the statement in a string, the other does not.
    CHECK(unparsed_traits("SELECT 'a\\''; LISTEN b --'").pin == pin_reason::listen);
    CHECK(unparsed_traits("SELECT 'a\\'; LISTEN b --'").pin == pin_reason::listen);
}

TEST_CASE("Several threads parse at once and agree") {
    const std::array statements = {
        std::string("SELECT id FROM items WHERE a = 1 ORDER BY e <-> $1 LIMIT 10"),
        std::string("WITH u AS (UPDATE t SET a = 1 RETURNING id) SELECT * FROM u"),
        std::string("this is no SQL"),
        std::string("SET search_path TO a, b"),
        "SELECT 1" + repeat(" + 1", 400),
    };
    std::array<statement_kind, 5> expected{};
    for (std::size_t i = 0; i < statements.size(); ++i) {
        expected[i] = parse(statements[i]).value.kind;
    }
    CHECK(
        expected ==
        std::array{
            statement_kind::read,
            statement_kind::write,
            statement_kind::unparsed,
            statement_kind::set,
            statement_kind::read}
    );
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (std::size_t round = 0; round < 200; ++round) {
                const auto i = (round + t) % statements.size();
                wrong += parse(statements[i]).value.kind == expected[i] ? 0 : 1;
            }
        });
    }
    for (auto& t : threads) {
        t.join();
    }
    CHECK(wrong == 0);
}

TEST_SUITE_END();

}  // namespace weir::routing
