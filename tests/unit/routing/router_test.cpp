#include "routing/router.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "cluster_fixture.hpp"

namespace weir::routing {

using config::consistency;
using config::consistency_level;
using config::targets;

namespace {

constexpr consistency strong{consistency_level::strong, {}};
constexpr consistency eventual{consistency_level::eventual, {}};

consistency bounded(int ms) {
    return {consistency_level::bounded, milliseconds{ms}};
}

traits reading(bool vector = false) {
    traits statement;
    statement.kind = statement_kind::read;
    statement.reason = primary_reason::none;
    statement.is_vector_search = vector;
    return statement;
}

traits writing() {
    traits statement;
    statement.kind = statement_kind::write;
    statement.reason = primary_reason::writes;
    return statement;
}

server_state replica(const char* name, double weight, int proven_lag, std::uint64_t replayed) {
    server_state server;
    server.name = name;
    server.role = server_role::replica;
    server.up = true;
    server.excluded = exclusion::none;
    server.system_identifier = our_system;
    server.timeline = {1};
    server.replayed = {replayed};
    server.lag = milliseconds{proven_lag};
    server.proven_lag = milliseconds{proven_lag};
    server.sampled = at(0);
    server.weight = weight;
    return server;
}

// Primary a; replica b, fresh at 1000; replica c, half a second behind at 900.
topology healthy() {
    topology cluster;
    cluster.primary = 0;
    cluster.system_identifier = our_system;
    cluster.timeline = {1};
    cluster.lag_max = milliseconds{10'000};
    cluster.sample_age_max = milliseconds{1000};
    server_state primary = replica("a", 0, 0, 1000);
    primary.role = server_role::primary;
    primary.excluded = exclusion::not_a_replica;
    cluster.servers = {primary, replica("b", 1.0, 0, 1000), replica("c", 0.5, 500, 900)};
    return cluster;
}

topology with(exclusion b, exclusion c) {
    topology cluster = healthy();
    cluster.servers[1].excluded = b;
    cluster.servers[2].excluded = c;
    return cluster;
}

topology without_primary() {
    topology cluster = healthy();
    cluster.primary = no_server;
    return cluster;
}

rule_set one_rule(consistency level, targets where = targets::replicas_then_primary) {
    config::routing config;
    config.rules.emplace_back();
    config.rules[0].name = "r";
    config.rules[0].consistency = level;
    config.rules[0].targets = where;
    return rule_set(config);
}

session_token wrote(std::uint64_t lsn) {
    return {session_token::status::known, {our_system, {1}, {lsn}}};
}

struct extra {
    judgement_reason judged = judgement_reason::safe;
    session_token token{};
    route_override asked{};
    int ms = 0;
};

struct row {
    const char* name;
    const rule_set& rules;
    traits statement;
    topology cluster;
    std::string_view expected;  // the servers that many draws choose between, or the kind of route
    std::string_view reason;
    extra more{};
};

// All that 200 draws choose, as names.
std::string choices(const row& r) {
    random_source random(3);
    const shape key{};
    std::string kind;
    std::vector<bool> seen(r.cluster.servers.size());
    for (std::int64_t i = 0; i < 200; ++i) {
        const route_request request{
            .statement = r.statement,
            .key = key,
            .judged = r.more.judged,
            .asked = r.more.asked,
            .token = r.more.token,
            .rules = r.rules,
            .cluster = r.cluster,
            .now = at(r.more.ms),
            .random = random,
        };
        const route result = decide(request);
        CHECK(name_of(result.reason) == r.reason);
        if (result.kind == route_kind::server) {
            seen.at(result.server) = true;
        } else {
            kind = name_of(result.kind);
        }
    }
    std::string names;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        names += seen[i] ? r.cluster.servers[i].name : "";
    }
    return names + kind;
}

void check(const std::vector<row>& rows) {
    for (const row& r : rows) {
        CAPTURE(r.name);
        CHECK(choices(r) == r.expected);
    }
}

constexpr std::string_view no_primary = "wait for a primary";
constexpr std::string_view refused = "error 57P03, no replica fits";
constexpr auto safe = judgement_reason::safe;
constexpr auto user = judgement_reason::user_function;
const rule_set no_rule(config::routing{});
const rule_set any = one_rule(eventual);
const rule_set replicas_only = one_rule(eventual, targets::replicas);

}  // namespace

TEST_SUITE_BEGIN("routing.router");

// clang-format off
TEST_CASE("statements and levels on a healthy cluster") {
    const rule_set to_primary = one_rule(eventual, targets::primary);
    const rule_set always_strong = one_rule(strong);
    const rule_set loose = one_rule(bounded(500));
    const rule_set tight = one_rule(bounded(499));
    check({
        {"write",                        no_rule,          writing(),     healthy(), "a",  "write"},
        {"read without a rule",          no_rule,          reading(),     healthy(), "a",  "strong"},
        {"vector search without a rule", no_rule,          reading(true), healthy(), "bc", "vector"},
        {"vector search with a function", no_rule,         reading(true), healthy(), "a",  "function", {user}},
        {"no catalog yet",               no_rule,          reading(true), healthy(), "a",  "function", {judgement_reason::no_catalog}},
        {"eventual",                     any,           reading(),     healthy(), "bc", "eventual"},
        {"eventual write",               any,           writing(),     healthy(), "a",  "write"},
        {"bounded and all are fresh",    loose,         reading(),     healthy(), "bc", "bounded"},
        {"bounded and one is fresh",     tight,         reading(),     healthy(), "b",  "bounded"},
        {"bounded and time passes",      tight,         reading(),     healthy(), "a",  "lagging", {safe, {}, {}, 500}},
        {"rule says primary",            to_primary,    reading(true), healthy(), "a",  "rule"},
        {"rule says strong",             always_strong, reading(true), healthy(), "a",  "strong"},
    });
}

TEST_CASE("replicas that do not fit leave the work to the primary") {
    using enum exclusion;
    check({
        {"one lags",                    no_rule,          reading(true), with(lag, exclusion::none),      "c", "vector"},
        {"both lag",                    no_rule,          reading(true), with(lag, lag),                  "a", "lagging"},
        {"one lags and one is paused",  no_rule,          reading(true), with(lag, replay_paused),        "a", "lagging"},
        {"both are down",               no_rule,          reading(true), with(unreachable, unreachable),  "a", "no_replica"},
        {"of another system",           no_rule,          reading(true), with(other_system, other_timeline), "a", "no_replica"},
        {"samples are too old",         no_rule,          reading(true), healthy(),                       "a", "no_replica", {safe, {}, {}, 1001}},
        {"replicas only and one fits",  replicas_only, reading(),     with(exclusion::none, lag),      "b", "eventual"},
        {"replicas only and none fits", replicas_only, reading(),     with(lag, lag),                  refused, "lagging"},
        {"replicas only and none is up", replicas_only, reading(),    with(unreachable, unreachable),  refused, "no_replica"},
        {"replicas only but a write",   replicas_only, writing(),     healthy(),                       "a", "write"},
    });
}

TEST_CASE("without a primary reads go on as far as their level allows") {
    topology aged = without_primary();
    aged.servers[1].proven_lag = aged.servers[2].proven_lag = milliseconds{20'000};
    const rule_set five_seconds = one_rule(bounded(5000));
    check({
        {"write",                   no_rule,         writing(),     without_primary(), no_primary, "write"},
        {"strong",                  no_rule,         reading(),     without_primary(), no_primary, "strong"},
        {"vector",                  no_rule,         reading(true), without_primary(), "bc",       "vector"},
        {"vector after lag.max",    no_rule,         reading(true), aged,              no_primary, "lagging"},
        {"bounded after its bound", five_seconds, reading(),     aged,              no_primary, "lagging"},
        {"eventual",                any,          reading(),     aged,              "bc",       "eventual"},
    });
}

TEST_CASE("a session sees its own writes") {
    using enum exclusion;
    const session_token pending{session_token::status::pending, {}};
    const session_token lost{session_token::status::unknown, {}};
    constexpr std::string_view waits = "wait for the position of the own write";
    check({
        {"both have replayed it",      no_rule,          reading(true), healthy(),      "bc",    "vector",    {safe, wrote(900)}},
        {"one has replayed it",        no_rule,          reading(true), healthy(),      "b",     "vector",    {safe, wrote(901)}},
        {"nobody has",                 no_rule,          reading(true), healthy(),      "a",     "own_write", {safe, wrote(1001)}},
        {"eventual too",               any,           reading(),     healthy(),      "a",     "own_write", {safe, wrote(1001)}},
        {"could not be learnt",        no_rule,          reading(true), healthy(),      "a",     "own_write", {safe, lost}},
        {"on its way",                 no_rule,          reading(true), healthy(),      waits,   "own_write", {safe, pending}},
        {"on its way but strong",      no_rule,          reading(),     healthy(),      "a",     "strong",    {safe, pending}},
        {"on its way but nobody fits", no_rule,          reading(true), with(lag, lag), "a",     "lagging",   {safe, pending}},
        {"replicas only",              replicas_only, reading(),     healthy(),      refused, "own_write", {safe, wrote(1001)}},
    });
}

TEST_CASE("B112 what the client asks for wins over rules and catalog but not over syntax") {
    const auto replicas = targets::replicas;
    check({
        {"eventual",                   no_rule, reading(),     healthy(), "bc", "eventual", {safe, {}, {eventual, {}}}},
        {"strong vector search",       no_rule, reading(true), healthy(), "a",  "strong",   {safe, {}, {strong, {}}}},
        {"primary",                    no_rule, reading(true), healthy(), "a",  "rule",     {safe, {}, {{}, targets::primary}}},
        {"replicas without a level",   no_rule, reading(),     healthy(), "bc", "bounded",  {safe, {}, {{}, replicas}}},
        {"strong and replicas",        no_rule, reading(),     healthy(), "a",  "strong",   {safe, {}, {strong, replicas}}},
        {"replicas against the catalog", no_rule, reading(),   healthy(), "bc", "bounded",  {user, {}, {{}, replicas}}},
        {"a setting for this read",    no_rule, reading(),     healthy(), "bc", "bounded",  {safe, {}, {{}, replicas, true}}},
        {"a setting against the catalog", no_rule, reading(),  healthy(), "a",  "function", {user, {}, {{}, replicas, true}}},
        {"a level against the catalog", no_rule, reading(),    healthy(), "a",  "function", {user, {}, {eventual, {}}}},
        {"anything against the syntax", no_rule, writing(),    healthy(), "a",  "write",    {safe, {}, {eventual, replicas}}},
    });
}

// clang-format on

TEST_CASE("10000 vector searches are spread by lag weight within 3 points") {
    const traits search = reading(true);
    const shape key{};
    random_source random(11);
    topology cluster = healthy();
    cluster.servers.push_back(replica("d", 0.25, 2000, 900));
    std::vector<double> shares(4);
    for (std::int64_t i = 0; i < 10'000; ++i) {
        const route_request request{
            .statement = search,
            .key = key,
            .judged = judgement_reason::safe,
            .rules = no_rule,
            .cluster = cluster,
            .now = at(0),
            .random = random,
        };
        shares[decide(request).server] += 1.0 / 10'000;
    }
    CHECK(shares[0] == 0.0);
    CHECK(std::abs(shares[1] - 4.0 / 7) < 0.03);
    CHECK(std::abs(shares[2] - 2.0 / 7) < 0.03);
    CHECK(std::abs(shares[3] - 1.0 / 7) < 0.03);
}

TEST_CASE("a route is checked again against the newest topology") {
    const rule_set rules = one_rule(bounded(400));
    const traits statement = reading();
    const shape key{};
    random_source random(1);
    topology cluster = healthy();
    std::vector<server_load> loads(3);
    route_request request{
        .statement = statement,
        .key = key,
        .judged = judgement_reason::safe,
        .rules = rules,
        .cluster = cluster,
        .loads = loads,
        .now = at(100),
        .random = random,
    };
    const route chosen = decide(request);
    REQUIRE(chosen.server == 1);
    CHECK(chosen.staleness == milliseconds{100});
    CHECK(chosen.rule->name == "r");
    CHECK(still_serves(chosen, request));

    SUBCASE("time passes") {
        request.now = at(401);
        CHECK_FALSE(still_serves(chosen, request));
    }
    SUBCASE("it is shut out") {
        cluster.servers[1].excluded = exclusion::lag;
        CHECK_FALSE(still_serves(chosen, request));
    }
    SUBCASE("it was promoted") {
        cluster.primary = 1;
        cluster.servers[1].excluded = exclusion::not_a_replica;
        CHECK(still_serves(chosen, request));
    }
    SUBCASE("its breaker opens") {
        loads[1].refused = true;
        CHECK_FALSE(still_serves(chosen, request));
        CHECK(decide(request).server == 0);
    }
    SUBCASE("a route to a former primary does not serve") {
        cluster.servers[1].excluded = exclusion::lag;
        const route to_primary = decide(request);
        CHECK(to_primary.server == 0);
        CHECK(still_serves(to_primary, request));
        cluster.primary = no_server;
        CHECK_FALSE(still_serves(to_primary, request));
    }
}

TEST_SUITE_END();

}  // namespace weir::routing
