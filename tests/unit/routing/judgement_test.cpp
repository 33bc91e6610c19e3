#include "routing/judgement.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <map>

namespace weir::routing {

namespace {

using row = std::initializer_list<std::string_view>;

traits reading() {
    traits statement;
    statement.kind = statement_kind::read;
    statement.reason = primary_reason::none;
    return statement;
}

traits calling(function_name function) {
    traits statement = reading();
    statement.functions = {std::move(function)};
    return statement;
}

traits from(relation_name relation) {
    traits statement = reading();
    statement.relations = {std::move(relation)};
    return statement;
}

traits using_operator(std::string name) {
    traits statement = reading();
    statement.operators = {std::move(name)};
    return statement;
}

traits casting_to(std::string name) {
    traits statement = reading();
    statement.types = {std::move(name)};
    return statement;
}

// Stands for the parser: the texts of the catalog below.
traits parse(std::string_view sql) {
    static const std::map<std::string_view, traits> known{
        {"plain view", from({"public", "items"})},
        {"volatile view", calling({"", "nextval"})},
        {"view of a view", from({"public", "volatile_view"})},
        {"view of itself", from({"public", "endless_view"})},
        {"SELECT even(value)", calling({"public", "even"})},
        {"SELECT value > 0", using_operator(">")},
        {"SELECT writes(id)", calling({"public", "my_write_fn"})},
    };
    const auto found = known.find(sql);
    return found == known.end() ? traits{} : found->second;
}

void add(catalog_builder& builder, catalog_rows rows, row values) {
    const std::vector<std::string_view> columns(values);
    CHECK(builder.add(rows, columns));
}

void add_functions(catalog_builder& builder) {
    for (const row& r : std::initializer_list<row>{
             {"pg_catalog", "lower", "i", "b"},
             {"pg_catalog", "now", "s", "b"},
             {"pg_catalog", "count", "i", "b"},
             {"pg_catalog", "nextval", "v", "b"},
             {"pg_catalog", "setval", "v", "b"},
             {"pg_catalog", "pg_notify", "v", "b"},
             {"pg_catalog", "pg_try_advisory_lock", "v", "b"},
             {"pg_catalog", "pg_create_restore_point", "v", "b"},
             {"pg_catalog", "lo_create", "v", "b"},
             {"pg_catalog", "txid_current", "s", "b"},
             {"pg_catalog", "pg_is_in_recovery", "v", "b"},
             {"pg_catalog", "inet_server_addr", "s", "b"},
             {"pg_catalog", "pg_stat_get_activity", "s", "b"},
             {"pg_catalog", "random", "v", "b"},
             {"pg_catalog", "overlay", "i", "b"},
             {"public", "overlay", "i", "u"},
             {"public", "my_write_fn", "v", "u"},
             {"public", "my_stable_fn", "s", "u"},
             {"public", "even", "i", "u"},
             {"public", "random", "v", "u"},
             {"public", "l2_distance", "i", "e"},
             {"public", "set_limit", "v", "e"},
         }) {
        add(builder, catalog_rows::functions, r);
    }
}

void add_operators_and_types(catalog_builder& builder) {
    for (const row& r : std::initializer_list<row>{
             {"pg_catalog", ">", "pg_catalog", "int4gt", "i", "b"},
             {"pg_catalog", ">=", "pg_catalog", "int4ge", "i", "b"},
             {"pg_catalog", "<=", "pg_catalog", "int4le", "i", "b"},
             {"pg_catalog", "=", "pg_catalog", "int4eq", "i", "b"},
             {"public", "<->", "public", "l2_distance", "i", "e"},
             {"public", "===", "public", "my_write_fn", "i", "u"},
         }) {
        add(builder, catalog_rows::operators, r);
    }
    for (const row& r : std::initializer_list<row>{
             {"pg_catalog", "int4", "f", "", ""},
             {"public", "vector", "f", "", ""},
             {"public", "strange", "t", "", ""},
             {"public", "positive", "f", "pg_catalog", "int4"},
             {"public", "even_number", "f", "pg_catalog", "int4"},
             {"public", "even_again", "f", "public", "even_number"},
             {"public", "converted", "f", "", ""},
         }) {
        add(builder, catalog_rows::types, r);
    }
    add(builder, catalog_rows::domain_checks, {"public", "positive", "value > 0"});
    add(builder, catalog_rows::domain_checks, {"public", "even_number", "even(value)"});
    add(builder, catalog_rows::casts, {"e", "public", "converted", "public", "my_stable_fn"});
}

void add_relations(catalog_builder& builder) {
    for (const row& r : std::initializer_list<row>{
             {"public", "items", "r", "p", "f"},
             {"public", "remote", "f", "p", "f"},
             {"public", "quick", "r", "u", "f"},
             {"public", "counter", "S", "p", "f"},
             {"public", "strange_column", "r", "p", "t"},
             {"public", "plain_view", "v", "p", "f"},
             {"public", "volatile_view", "v", "p", "f"},
             {"public", "outer_view", "v", "p", "f"},
             {"public", "endless_view", "v", "p", "f"},
             {"public", "odd_view", "v", "p", "f"},
             {"public", "view_without_text", "v", "p", "f"},
             {"public", "guarded", "r", "p", "f"},
             {"public", "well_guarded", "r", "p", "f"},
             {"public", "parts", "p", "p", "f"},
             {"public", "with_method", "r", "p", "f"},
             {"one", "twice", "r", "p", "f"},
             {"two", "twice", "r", "u", "f"},
         }) {
        add(builder, catalog_rows::relations, r);
    }
    add(builder, catalog_rows::views, {"public", "plain_view", "plain view"});
    add(builder, catalog_rows::views, {"public", "volatile_view", "volatile view"});
    add(builder, catalog_rows::views, {"public", "outer_view", "view of a view"});
    add(builder, catalog_rows::views, {"public", "endless_view", "view of itself"});
    add(builder, catalog_rows::views, {"public", "odd_view", "not to be parsed"});
    add(builder, catalog_rows::policies, {"public", "guarded", "writes(id)"});
    add(builder, catalog_rows::policies, {"public", "well_guarded", "value > 0"});
    add(builder, catalog_rows::inheritance, {"public", "parts", "public", "quick"});
    add(builder, catalog_rows::row_functions, {"public", "with_method", "public", "my_stable_fn"});
}

catalog_ptr example() {
    catalog_builder builder(parse);
    add_functions(builder);
    add_operators_and_types(builder);
    add_relations(builder);
    return builder.build("1");
}

struct expectation {
    const char* name;
    traits statement;
    judgement_reason reason;
    std::string culprit;
};

void check_all(const std::vector<expectation>& rows, const function_list& safe = {}) {
    const catalog_ptr known = example();
    REQUIRE(known);
    for (const expectation& r : rows) {
        CAPTURE(r.name);
        const judgement result = judge(r.statement, known.get(), safe);
        CHECK(name_of(result.reason) == name_of(r.reason));
        CHECK(result.culprit == r.culprit);
    }
}

}  // namespace

TEST_SUITE_BEGIN("routing.judgement");

TEST_CASE("B112 functions are judged by the catalog and doubt means the primary") {
    using enum judgement_reason;
    check_all({
        {"immutable", calling({"", "lower"}), safe, ""},
        {"stable", calling({"", "now"}), safe, ""},
        {"with its schema", calling({"pg_catalog", "count"}), safe, ""},
        {"sequence", calling({"", "nextval"}), volatile_function, "pg_catalog.nextval"},
        {"setval", calling({"", "setval"}), volatile_function, "pg_catalog.setval"},
        {"notify", calling({"", "pg_notify"}), volatile_function, "pg_catalog.pg_notify"},
        {"advisory lock",
         calling({"", "pg_try_advisory_lock"}),
         volatile_function,
         "pg_catalog.pg_try_advisory_lock"},
        {"restore point",
         calling({"", "pg_create_restore_point"}),
         volatile_function,
         "pg_catalog.pg_create_restore_point"},
        {"large object", calling({"", "lo_create"}), volatile_function, "pg_catalog.lo_create"},
        {"stable but assigns an id",
         calling({"", "txid_current"}),
         node_dependent,
         "pg_catalog.txid_current"},
        {"asks about the server",
         calling({"", "pg_is_in_recovery"}),
         volatile_function,
         "pg_catalog.pg_is_in_recovery"},
        {"address of the server",
         calling({"", "inet_server_addr"}),
         node_dependent,
         "pg_catalog.inet_server_addr"},
        {"statistics",
         calling({"", "pg_stat_get_activity"}),
         node_dependent,
         "pg_catalog.pg_stat_get_activity"},
        {"harmless", calling({"pg_catalog", "random"}), safe, ""},
        {"harmless name of a user", calling({"public", "random"}), user_function, "public.random"},
        {"any schema may be meant", calling({"", "random"}), user_function, "public.random"},
        {"an overload of a user", calling({"", "overlay"}), user_function, "public.overlay"},
        {"user volatile", calling({"", "my_write_fn"}), user_function, "public.my_write_fn"},
        {"user stable", calling({"public", "my_stable_fn"}), user_function, "public.my_stable_fn"},
        {"user immutable", calling({"", "even"}), user_function, "public.even"},
        {"extension", calling({"", "l2_distance"}), safe, ""},
        {"volatile of an extension",
         calling({"", "set_limit"}),
         volatile_function,
         "public.set_limit"},
        {"unknown", calling({"", "nowhere"}), unknown_function, "nowhere"},
        {"known in another schema", calling({"other", "lower"}), unknown_function, "other.lower"},
    });
}

TEST_CASE("B112 a listed function may run on a replica") {
    using enum judgement_reason;
    const function_list safe_ones({"public.even", "my_stable_fn", "set_*"});
    check_all(
        {
            {"listed with its schema", calling({"", "even"}), safe, ""},
            {"listed by name", calling({"public", "my_stable_fn"}), safe, ""},
            {"listed by pattern", calling({"", "set_limit"}), safe, ""},
            {"not listed", calling({"", "my_write_fn"}), user_function, "public.my_write_fn"},
            {"in a domain check", casting_to("public.even_number"), safe, ""},
            {"in a cast", casting_to("converted"), safe, ""},
            {"as a method", from({"", "with_method"}), safe, ""},
        },
        safe_ones
    );
}

TEST_CASE("B112 relations are judged by what reading them does") {
    using enum judgement_reason;
    check_all({
        {"table", from({"", "items"}), safe, ""},
        {"table with its schema", from({"public", "items"}), safe, ""},
        {"unknown", from({"", "temporary_one"}), unknown_relation, "temporary_one"},
        {"in another schema", from({"other", "items"}), unknown_relation, "other.items"},
        {"foreign table", from({"", "remote"}), foreign_table, "public.remote"},
        {"unlogged", from({"", "quick"}), not_replicated, "public.quick"},
        {"sequence", from({"", "counter"}), sequence, "public.counter"},
        {"custom type", from({"", "strange_column"}), custom_type, "public.strange_column"},
        {"plain view", from({"", "plain_view"}), safe, ""},
        {"view of a volatile function",
         from({"", "volatile_view"}),
         volatile_function,
         "pg_catalog.nextval"},
        {"view of a view", from({"", "outer_view"}), volatile_function, "pg_catalog.nextval"},
        {"view not understood", from({"", "odd_view"}), body, "public.odd_view"},
        {"view that is new", from({"", "view_without_text"}), body, "public.view_without_text"},
        {"views without end", from({"", "endless_view"}), too_deep, "public.endless_view"},
        {"policy", from({"", "guarded"}), user_function, "public.my_write_fn"},
        {"harmless policy", from({"", "well_guarded"}), safe, ""},
        {"unlogged partition", from({"", "parts"}), not_replicated, "public.quick"},
        {"function as a column", from({"", "with_method"}), user_function, "public.my_stable_fn"},
        {"any schema may be meant", from({"", "twice"}), not_replicated, "two.twice"},
        {"the right schema is named", from({"one", "twice"}), safe, ""},
    });
}

TEST_CASE("B112 operators and casts are judged by their functions") {
    using enum judgement_reason;
    check_all({
        {"built in", using_operator("="), safe, ""},
        {"with its schema", using_operator("pg_catalog.="), safe, ""},
        {"two comparisons", using_operator("BETWEEN"), safe, ""},
        {"vector", using_operator("<->"), safe, ""},
        {"bound to a user function", using_operator("==="), unsafe_operator, "public.==="},
        {"unknown", using_operator("@@@"), unknown_operator, "@@@"},
        {"built-in type", casting_to("pg_catalog.int4"), safe, ""},
        {"vector type", casting_to("vector"), safe, ""},
        {"unknown type", casting_to("nothing"), unknown_type, "nothing"},
        {"type with code", casting_to("strange"), custom_type, "public.strange"},
        {"domain with a harmless check", casting_to("positive"), safe, ""},
        {"domain with a user function", casting_to("even_number"), user_function, "public.even"},
        {"domain over such a domain", casting_to("even_again"), user_function, "public.even"},
        {"cast with a user function", casting_to("converted"), unsafe_cast, "public.my_stable_fn"},
    });
}

TEST_CASE("without a catalog everything goes to the primary") {
    CHECK(judge(reading(), nullptr, {}).reason == judgement_reason::no_catalog);
    CHECK(judge(reading(), example().get(), {}).safe());
}

TEST_CASE("an implicit cast of a user can happen anywhere") {
    catalog_builder builder(parse);
    add_functions(builder);
    add_operators_and_types(builder);
    add_relations(builder);
    add(builder, catalog_rows::casts, {"i", "pg_catalog", "int4", "public", "even"});
    const catalog_ptr known = builder.build("1");
    CHECK(
        judge(reading(), known.get(), {}) == judgement{judgement_reason::unsafe_cast, "public.even"}
    );
    CHECK(judge(reading(), known.get(), function_list({"public.even"})).safe());
}

TEST_CASE("a wrong row or a missing kind makes no catalog") {
    struct wrong {
        catalog_rows rows;
        std::vector<std::string_view> columns;
    };

    const wrong rows[] = {
        {catalog_rows::functions, {"a", "b", "i"}},
        {catalog_rows::functions, {"a", "b", "x", "b"}},
        {catalog_rows::functions, {"a", "b", "i", "x"}},
        {catalog_rows::operators, {"a", "=", "b", "c", "", "b"}},
        {catalog_rows::types, {"a", "b", "", "", ""}},
        {catalog_rows::relations, {"a", "b", "", "p", "f"}},
        {catalog_rows::relations, {"a", "b", "r", "p", "true"}},
        {catalog_rows::casts, {"x", "a", "b", "c", "d"}},
    };
    for (const wrong& w : rows) {
        catalog_builder builder(parse);
        add_functions(builder);
        add_operators_and_types(builder);
        add_relations(builder);
        CHECK_FALSE(builder.add(w.rows, w.columns));
        CHECK(builder.build("1") == nullptr);
    }
    catalog_builder builder(parse);
    add_functions(builder);
    CHECK(builder.build("1") == nullptr);
}

TEST_CASE("every kind of rows has one query") {
    std::vector<catalog_rows> seen;
    for (const catalog_query& query : catalog_queries()) {
        CHECK(query.columns >= 3);
        CHECK(query.sql.find(';') == std::string_view::npos);
        CHECK(std::find(seen.begin(), seen.end(), query.rows) == seen.end());
        seen.push_back(query.rows);
    }
    CHECK(seen.size() == 10);
}

TEST_CASE("judgements are kept until the catalog changes") {
    judgement_cache cache(4);
    const shape key = scan("select nowhere()");
    const traits statement = calling({"", "nowhere"});
    const catalog_ptr known = example();
    CHECK(cache.get(key, statement, nullptr, {}).reason == judgement_reason::no_catalog);
    CHECK(cache.get(key, statement, known, {}).reason == judgement_reason::unknown_function);
    // Not judged again: the statement at hand is not looked at.
    CHECK(cache.get(key, reading(), known, {}).reason == judgement_reason::unknown_function);
    CHECK(cache.get(key, reading(), example(), {}).safe());
    CHECK(cache.get(key, statement, nullptr, {}).reason == judgement_reason::no_catalog);
}

TEST_CASE("shapes that meet in a slot do not share a judgement") {
    judgement_cache cache(1);
    const catalog_ptr known = example();
    const shape one = scan("select nowhere()");
    const shape two = scan("select 1");
    for (std::int64_t i = 0; i < 2; ++i) {
        CHECK_FALSE(cache.get(one, calling({"", "nowhere"}), known, {}).safe());
        CHECK(cache.get(two, reading(), known, {}).safe());
    }
    cache.clear();
    CHECK(cache.get(one, reading(), known, {}).safe());
}

TEST_SUITE_END();

}  // namespace weir::routing
