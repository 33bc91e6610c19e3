#include "routing/explain.hpp"

#include "routing/names.hpp"

#include <doctest/doctest.h>

#include "cluster_fixture.hpp"

namespace weir::routing {

namespace {

// Three seconds of a primary that writes, b with everything, c a second behind.
topology_ptr example() {
    topology_builder builder(three_servers());
    for (std::int64_t i = 0; i <= 15; ++i) {
        const auto head = 10'000 + static_cast<std::uint64_t>(i) * 1000;
        builder.add(0, primary_at(i * 200, head));
        builder.add(1, replica_at(i * 200, head));
        builder.add(2, replica_at(i * 200, head - 5000));
    }
    return builder.build(at(3000));
}

std::string explained(const traits& statement, const judgement& judged) {
    config::routing config;
    config.rules.emplace_back();
    config.rules[0].name = "nearest";
    config.rules[0].match.vector = true;
    config.rules[0].settings = {{"hnsw.ef_search", "200"}};
    const rule_set rules(config);
    const topology_ptr cluster = example();
    const shape key{};
    random_source random(1);
    const route_request request{
        .statement = statement,
        .key = key,
        .judged = judged.reason,
        .rules = rules,
        .cluster = *cluster,
        .now = at(3000),
        .random = random,
    };
    return to_text(explain(request, judged));
}

}  // namespace

TEST_SUITE_BEGIN("routing.explain");

TEST_CASE("a vector search names its candidates and the choice") {
    traits statement;
    statement.kind = statement_kind::read;
    statement.reason = primary_reason::none;
    statement.is_vector_search = true;
    statement.relations = {{"public", "items"}};
    statement.search = {{"public", "items"}, "embedding", "<=>", 10, 1};
    CHECK(
        explained(statement, {}) ==
        "shape: 00000000000000000000000000000000\n"
        "kind: read\n"
        "relations: public.items\n"
        "vector search: public.items.embedding <=> $1 limit 10\n"
        "rule: nearest\n"
        "consistency: bounded 10000 ms\n"
        "settings: hnsw.ef_search = 200\n"
        "server a: primary\n"
        "server b: replica, lag 0 ms, weight 1, share 0.667\n"
        "server c: replica, lag 1000 ms, weight 0.5, share 0.333, chosen\n"
        "choice: c\n"
        "reason: vector\n"
    );
}

TEST_CASE("a statement for the primary says why") {
    traits statement;
    statement.kind = statement_kind::read;
    statement.reason = primary_reason::none;
    statement.functions = {{"", "nextval"}};
    const judgement judged{judgement_reason::volatile_function, "pg_catalog.nextval"};
    CHECK(
        explained(statement, judged) ==
        "shape: 00000000000000000000000000000000\n"
        "kind: read\n"
        "needs the primary: volatile function: pg_catalog.nextval\n"
        "functions: nextval\n"
        "rule: default\n"
        "consistency: strong\n"
        "server a: primary, chosen\n"
        "server b: replica, lag 0 ms, weight 1, excluded: strong reads go to the primary\n"
        "server c: replica, lag 1000 ms, weight 0.5, excluded: strong reads go to the primary\n"
        "choice: a\n"
        "reason: function\n"
    );
}

TEST_CASE("syntax is named before the catalog") {
    traits statement;
    statement.kind = statement_kind::write;
    statement.reason = primary_reason::modifying_cte;
    const std::string text = explained(statement, {judgement_reason::no_catalog, ""});
    CHECK(text.find("needs the primary: modifying_cte\n") != std::string::npos);
    CHECK(name_of(statement_kind::copy_out) == "copy_out");
    CHECK(name_of(pin_reason::advisory_lock) == "advisory_lock");
}

TEST_SUITE_END();

}  // namespace weir::routing
