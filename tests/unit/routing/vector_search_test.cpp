#include "routing/sql_parser.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weir::routing {

namespace {

// "table.column operator k $n", or "no".
std::string search_in(const char* sql) {
    const auto value = parse(sql).value;
    if (!value.is_vector_search) {
        return "no";
    }
    const auto& s = value.search;
    return (s.table.schema.empty() ? "" : s.table.schema + ".") + s.table.name + "." + s.column +
           " " + s.operator_name + " " + std::to_string(s.k) + " $" + std::to_string(s.parameter);
}

struct search_case {
    const char* sql;
    const char* expected;
};

template <std::size_t N>
void check_searches(const search_case (&cases)[N]) {
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        CHECK(search_in(c.sql) == std::string(c.expected));
    }
}

}  // namespace

TEST_SUITE_BEGIN("routing.vector_search");

TEST_CASE("Every distance operator is known and every place of the query vector") {
    constexpr search_case cases[] = {
        {"SELECT id FROM items ORDER BY e <-> $1 LIMIT 10", "items.e <-> 10 $1"},
        {"SELECT id FROM items ORDER BY e <=> $2 LIMIT 10", "items.e <=> 10 $2"},
        {"SELECT id FROM items ORDER BY e <#> '[1,2]' LIMIT 10", "items.e <#> 10 $0"},
        {"SELECT id FROM items ORDER BY e <+> '[1,2]'::vector LIMIT 10", "items.e <+> 10 $0"},
        {"SELECT id FROM items ORDER BY e <~> B'101' LIMIT 10", "items.e <~> 10 $0"},
        {"SELECT id FROM items ORDER BY e <%> $1::bit(3) LIMIT 10", "items.e <%> 10 $1"},
        {"SELECT id FROM items ORDER BY e <<->> $1 LIMIT 1", "items.e <<->> 1 $1"},
        {"SELECT id FROM items ORDER BY e <-> $1::vector(3) LIMIT 10", "items.e <-> 10 $1"},
        {"SELECT id FROM items ORDER BY e <-> CAST($1 AS halfvec) LIMIT 10", "items.e <-> 10 $1"},
        {"SELECT id FROM items ORDER BY $1 <-> e LIMIT 10", "items.e <-> 10 $1"},
        {"SELECT id FROM items ORDER BY '[1]'::vector <-> e LIMIT 10", "items.e <-> 10 $0"},
        {"SELECT id FROM items ORDER BY e::halfvec(3) <-> $1::halfvec(3) LIMIT 10",
         "items.e <-> 10 $1"},
        {"SELECT id FROM items ORDER BY (e::halfvec(3)) <-> ($1) LIMIT 10", "items.e <-> 10 $1"},
        {"SELECT id FROM items ORDER BY binary_quantize(e)::bit(3) <~> binary_quantize($1) LIMIT "
         "10",
         "items.e <~> 10 $1"},
        {"SELECT id FROM items ORDER BY subvector(e, 1, 3)::vector(3) <-> $4 LIMIT 10",
         "items.e <-> 10 $4"},
        {"SELECT id FROM items ORDER BY e OPERATOR(public.<->) $1 LIMIT 10", "items.e <-> 10 $1"},
        {"SELECT id FROM items ORDER BY e <-> (SELECT e FROM items WHERE id = $1) LIMIT 10",
         "items.e <-> 10 $0"},
        {"SELECT id FROM items ORDER BY e <-> ARRAY[1,2]::vector LIMIT 10", "items.e <-> 10 $0"},
    };
    check_searches(cases);
}

TEST_CASE("The limit and further sort keys may have any form") {
    constexpr search_case cases[] = {
        {"SELECT id FROM items ORDER BY e <-> $1 LIMIT $2", "items.e <-> -1 $1"},
        {"SELECT id FROM items ORDER BY e <-> $1", "items.e <-> -1 $1"},
        {"SELECT id FROM items ORDER BY e <-> $1 LIMIT ALL", "items.e <-> -1 $1"},
        {"SELECT id FROM items ORDER BY e <-> $1 FETCH FIRST 5 ROWS ONLY", "items.e <-> 5 $1"},
        {"SELECT id FROM items ORDER BY e <-> $1 ASC NULLS LAST, id LIMIT 5 OFFSET 10",
         "items.e <-> 5 $1"},
        {"SELECT id FROM items WHERE org = $2 ORDER BY e <-> $1 LIMIT 5", "items.e <-> 5 $1"},
        {"SELECT id, e <-> $1 AS d FROM items ORDER BY d LIMIT 5", "items.e <-> 5 $1"},
        {"SELECT id, e <-> $1 FROM items ORDER BY 2 LIMIT 5", "items.e <-> 5 $1"},
        {"SELECT *, e <-> $1 AS d FROM items ORDER BY d LIMIT 5", "items.e <-> 5 $1"},
        {"EXPLAIN SELECT id FROM items ORDER BY e <-> $1 LIMIT 5", "items.e <-> 5 $1"},
    };
    check_searches(cases);
}

TEST_CASE("The table is found behind names joins and sub-queries") {
    constexpr search_case cases[] = {
        {"SELECT id FROM shop.items ORDER BY e <-> $1 LIMIT 5", "shop.items.e <-> 5 $1"},
        {"SELECT i.id FROM shop.items AS i ORDER BY i.e <-> $1 LIMIT 5", "shop.items.e <-> 5 $1"},
        {"SELECT 1 FROM orgs o JOIN items i ON o.id = i.org ORDER BY i.e <-> $1 LIMIT 5",
         "items.e <-> 5 $1"},
        {"SELECT 1 FROM orgs o, items i ORDER BY i.e <-> $1 LIMIT 5", "items.e <-> 5 $1"},
        {"SELECT 1 FROM orgs o, items i ORDER BY e <-> $1 LIMIT 5", ".e <-> 5 $1"},
        {"SELECT 1 FROM orgs JOIN items USING (id) ORDER BY e <-> $1 LIMIT 5", ".e <-> 5 $1"},
        {"SELECT * FROM (SELECT * FROM items ORDER BY e <-> $1 LIMIT 5) s", "items.e <-> 5 $1"},
        {"SELECT * FROM (SELECT * FROM items ORDER BY e <-> $1 LIMIT 5) s ORDER BY id",
         "items.e <-> 5 $1"},
        {"SELECT * FROM (SELECT * FROM items WHERE a) s ORDER BY s.e <-> $1 LIMIT 5",
         "items.e <-> 5 $1"},
        {"WITH n AS (SELECT * FROM items ORDER BY e <-> $1 LIMIT 5) SELECT * FROM n",
         "items.e <-> 5 $1"},
        {"WITH n AS MATERIALIZED (SELECT id, e <-> $1 AS d FROM items ORDER BY d LIMIT 5) "
         "SELECT * FROM n WHERE d < 1 ORDER BY d",
         "items.e <-> 5 $1"},
        {"WITH a AS (SELECT * FROM items), b AS (SELECT * FROM a ORDER BY e <-> $1 LIMIT 5) SELECT "
         "* FROM b",
         "items.e <-> 5 $1"},
        {"WITH items AS (SELECT * FROM items) SELECT * FROM items ORDER BY e <-> $1 LIMIT 5",
         "items.e <-> 5 $1"},
        {"WITH q AS (SELECT $1::vector v) SELECT id FROM items, q ORDER BY items.e <-> q.v LIMIT 5",
         "items.e <-> 5 $0"},
    };
    check_searches(cases);
}

TEST_CASE("Other orders are no search") {
    constexpr search_case cases[] = {
        {"SELECT id FROM items ORDER BY e <-> $1 DESC LIMIT 5", "no"},
        {"SELECT id FROM items ORDER BY id, e <-> $1 LIMIT 5", "no"},
        {"SELECT id FROM items ORDER BY 1 - (e <=> $1) DESC LIMIT 5", "no"},
        {"SELECT id FROM items ORDER BY (e <-> $1) + 0 LIMIT 5", "no"},
        {"SELECT id FROM items WHERE e <-> $1 < 5", "no"},
        {"SELECT id FROM items ORDER BY $1 <-> $2 LIMIT 5", "no"},
        {"SELECT id FROM items ORDER BY e < $1 LIMIT 5", "no"},
        {"SELECT e <-> $1 FROM items LIMIT 5", "no"},
        {"SELECT *, e <-> $1 FROM items ORDER BY 2 LIMIT 5", "no"},
        {"SELECT id FROM items ORDER BY 2 LIMIT 5", "no"},
        {"SELECT id FROM a, (SELECT * FROM items ORDER BY e <-> $1 LIMIT 5) s", "no"},
        {"SELECT 1; SELECT id FROM items ORDER BY e <-> $1 LIMIT 10", "no"},
        {"WITH RECURSIVE n AS (SELECT * FROM n ORDER BY e <-> $1 LIMIT 5) SELECT * FROM n", "no"},
        {"UPDATE items SET a = 1", "no"},
    };
    check_searches(cases);
}

TEST_SUITE_END();

}  // namespace weir::routing
