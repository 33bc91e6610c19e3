#include "routing/consistency.hpp"

#include <doctest/doctest.h>

#include "cluster_fixture.hpp"

namespace weir::routing {

using config::consistency;
using config::consistency_level;

namespace {

constexpr consistency strong{consistency_level::strong, {}};
constexpr consistency eventual{consistency_level::eventual, {}};

consistency bounded(int ms) {
    return {consistency_level::bounded, milliseconds{ms}};
}

// A replica at position 1000 of timeline 2, sampled at 0 with a proven lag of 300 ms.
topology one_replica() {
    topology cluster;
    cluster.system_identifier = our_system;
    cluster.timeline = {2};
    cluster.lag_max = milliseconds{10'000};
    cluster.sample_age_max = milliseconds{1000};
    server_state server;
    server.name = "b";
    server.excluded = exclusion::none;
    server.weight = 1;
    server.system_identifier = our_system;
    server.timeline = {2};
    server.replayed = {1000};
    server.lag = milliseconds{100};
    server.proven_lag = milliseconds{300};
    server.sampled = at(0);
    cluster.servers.push_back(server);
    return cluster;
}

session_token token(std::uint64_t system, std::uint32_t timeline, std::uint64_t lsn) {
    return {session_token::status::known, {system, {timeline}, {lsn}}};
}

verdict judge_at(int ms, const consistency& level, const session_token& own = {}) {
    const topology cluster = one_replica();
    return may_serve(cluster, cluster.servers[0], level, own, at(ms));
}

}  // namespace

TEST_SUITE_BEGIN("routing.consistency");

TEST_CASE("staleness is proven lag plus the age of the sample") {
    const topology cluster = one_replica();
    CHECK(staleness(cluster.servers[0], at(0)) == milliseconds{300});
    CHECK(staleness(cluster.servers[0], at(250)) == milliseconds{550});
    CHECK(
        staleness(cluster.servers[0], at(250) + std::chrono::nanoseconds{1}) == milliseconds{551}
    );
    CHECK(staleness(cluster.servers[0], at(-50)) == milliseconds{300});
    CHECK(staleness(server_state{}, at(0)) == milliseconds::max());
}

TEST_CASE("each level has its own idea of fresh enough") {
    CHECK(judge_at(0, strong) == verdict::primary_only);
    CHECK(judge_at(0, eventual) == verdict::serves);
    CHECK(judge_at(1000, eventual) == verdict::serves);
    CHECK(judge_at(1001, eventual) == verdict::old_sample);
    CHECK(judge_at(0, bounded(299)) == verdict::stale);
    CHECK(judge_at(0, bounded(300)) == verdict::serves);
    CHECK(judge_at(200, bounded(500)) == verdict::serves);
    CHECK(judge_at(201, bounded(500)) == verdict::stale);
}

TEST_CASE("a bound of zero means lag.max of the cluster") {
    topology cluster = one_replica();
    cluster.servers[0].proven_lag = milliseconds{10'000};
    CHECK(may_serve(cluster, cluster.servers[0], bounded(0), {}, at(0)) == verdict::serves);
    CHECK(may_serve(cluster, cluster.servers[0], bounded(0), {}, at(1)) == verdict::stale);
}

TEST_CASE("an excluded server or one without weight serves nothing") {
    topology cluster = one_replica();
    cluster.servers[0].excluded = exclusion::lag;
    CHECK(may_serve(cluster, cluster.servers[0], eventual, {}, at(0)) == verdict::excluded);
    cluster = one_replica();
    cluster.servers[0].weight = 0;
    CHECK(may_serve(cluster, cluster.servers[0], eventual, {}, at(0)) == verdict::excluded);
}

TEST_CASE("own writes are seen or the primary serves") {
    struct row {
        const char* name;
        session_token own;
        verdict expected;
    };

    const row rows[] = {
        {"nothing written", {}, verdict::serves},
        {"replayed exactly", token(our_system, 2, 1000), verdict::serves},
        {"one byte short", token(our_system, 2, 1001), verdict::own_write},
        {"older timeline", token(our_system, 1, 10), verdict::own_write},
        {"newer timeline", token(our_system, 3, 10), verdict::own_write},
        {"another system", token(our_system + 1, 2, 10), verdict::own_write},
        {"still on its way", {session_token::status::pending, {}}, verdict::token_pending},
        {"could not be learnt", {session_token::status::unknown, {}}, verdict::own_write},
    };
    for (const row& r : rows) {
        CAPTURE(r.name);
        CHECK(judge_at(0, eventual, r.own) == r.expected);
        CHECK(judge_at(0, bounded(1000), r.own) == r.expected);
    }
}

TEST_CASE("a token is not compared with a server whose system or timeline is unproven") {
    topology cluster = one_replica();
    cluster.servers[0].timeline = {1};
    CHECK(
        may_serve(cluster, cluster.servers[0], eventual, token(our_system, 2, 10), at(0)) ==
        verdict::own_write
    );
    cluster = one_replica();
    cluster.servers[0].system_identifier = 0;
    CHECK(
        may_serve(cluster, cluster.servers[0], eventual, token(our_system, 2, 10), at(0)) ==
        verdict::own_write
    );
}

TEST_CASE("a token only goes forward within one system") {
    session_token own{session_token::status::pending, {}};
    raise(own, {our_system, {1}, {500}});
    CHECK(own.state == session_token::status::known);
    CHECK(own.at.at == lsn{500});
    raise(own, {our_system, {1}, {400}});
    CHECK(own.at.at == lsn{500});
    raise(own, {our_system, {2}, {100}});
    CHECK(own.at == position{our_system, {2}, {100}});
    raise(own, {our_system, {1}, {900}});
    CHECK(own.at == position{our_system, {2}, {100}});
    raise(own, {our_system + 1, {1}, {1}});
    CHECK(own.at == position{our_system + 1, {1}, {1}});
}

TEST_CASE("levels are printed as they are configured") {
    CHECK(to_string(strong) == "strong");
    CHECK(to_string(eventual) == "eventual");
    CHECK(to_string(bounded(2000)) == "bounded 2000 ms");
    CHECK(to_string(bounded(0)) == "bounded by lag.max");
}

TEST_SUITE_END();

}  // namespace weir::routing
