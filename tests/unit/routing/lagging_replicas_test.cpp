#include "routing/topology_builder.hpp"

#include <doctest/doctest.h>

#include "cluster_fixture.hpp"

namespace weir::routing {

TEST_SUITE_BEGIN("routing.lagging_replicas");

TEST_CASE("B119 a replica whose replay is paused gets nothing after the sample that says so") {
    busy_cluster cluster;
    ++cluster.tick;
    cluster.builder.add(0, primary_at(cluster.ms(), cluster.head()));
    server_sample paused = replica_at(cluster.ms(), cluster.head());
    paused.replay_paused = true;
    cluster.builder.add(1, paused);
    const auto now = cluster.builder.build(at(cluster.ms()));
    CHECK(now->servers[1].excluded == exclusion::replay_paused);
    CHECK(now->servers[1].weight == 0.0);
}

TEST_CASE("B119 a replica that stops replaying is shut out with the first sample past the limit") {
    config::cluster config = three_servers();
    config.lag.max = milliseconds{1000};
    busy_cluster cluster(config);
    const auto stuck = cluster.head();
    double last_weight = 1.1;
    for (std::int64_t i = 1; i <= 6; ++i) {
        CAPTURE(i);
        ++cluster.tick;
        cluster.builder.add(0, primary_at(cluster.ms(), cluster.head()));
        cluster.builder.add(1, replica_at(cluster.ms(), stuck));
        const auto now = cluster.builder.build(at(cluster.ms()));
        CHECK(now->servers[1].lag == milliseconds{i * 200});
        CHECK(now->servers[1].excluded == (i <= 5 ? exclusion::none : exclusion::lag));
        CHECK(now->servers[1].weight < last_weight);
        last_weight = now->servers[1].weight;
    }
    CHECK(last_weight == 0.0);
    CHECK(cluster.step(0, 0)->servers[1].weight == doctest::Approx(1.0));
}

TEST_CASE("B119 ten minutes of an idle primary exclude nobody") {
    busy_cluster cluster;
    const auto head = cluster.head();
    for (std::int64_t i = 1; i <= 3000; ++i) {
        ++cluster.tick;
        cluster.builder.add(0, primary_at(cluster.ms(), head));
        cluster.builder.add(1, replica_at(cluster.ms(), head));
    }
    const auto now = cluster.builder.build(at(cluster.ms()));
    CHECK(now->servers[1].lag == milliseconds{0});
    CHECK(now->servers[1].proven_lag == milliseconds{0});
    CHECK(now->servers[1].lag_bytes == 0);
    CHECK(now->servers[1].excluded == exclusion::none);
    CHECK(now->servers[1].weight == doctest::Approx(1.0));
}

TEST_CASE("B119 lag that is not known is not zero") {
    topology_builder builder(three_servers());
    builder.add(0, primary_at(0, 1000));
    builder.add(1, replica_at(0, 900));
    auto now = builder.build(at(0));
    CHECK(now->servers[1].excluded == exclusion::no_sample);
    CHECK(now->servers[2].excluded == exclusion::no_sample);
    CHECK(now->servers[2].weight == 0.0);
    builder.add(2, failed(0));
    CHECK(builder.build(at(0))->servers[2].excluded == exclusion::unreachable);
    builder.add(0, primary_at(200, 2000));
    builder.add(1, replica_at(200, 1900));
    now = builder.build(at(200));
    CHECK(now->servers[1].excluded == exclusion::none);
    CHECK(now->servers[1].lag == milliseconds{20});
}

TEST_CASE("B119 a replica ahead of the last sample of the primary has no lag") {
    busy_cluster cluster;
    cluster.builder.add(1, replica_at(cluster.ms() + 100, cluster.head() + 700));
    const auto now = cluster.builder.build(at(cluster.ms() + 100));
    CHECK(now->servers[1].lag == milliseconds{0});
    CHECK(now->servers[1].lag_bytes == 0);
    CHECK(now->servers[1].excluded == exclusion::none);
}

TEST_CASE("a heartbeat is wanted when the primary stands still above what a replica has") {
    busy_cluster cluster;
    const auto head = cluster.head();
    const auto still = cluster.ms();
    const auto tick = [&](std::int64_t i, std::uint64_t replayed, std::uint64_t received) {
        server_sample sample = replica_at(still + i * 200, replayed);
        sample.received = {received};
        cluster.builder.add(1, sample);
        cluster.builder.add(2, replica_at(still + i * 200, head));
        cluster.builder.add(0, primary_at(still + i * 200, head));
        return cluster.builder.wants_heartbeat(at(still + i * 200));
    };
    SUBCASE("at most once per interval") {
        CHECK_FALSE(tick(0, head - 8, head - 8));
        CHECK(tick(1, head - 8, head - 8));
        cluster.builder.heartbeat_sent(at(still + 200));
        CHECK_FALSE(cluster.builder.wants_heartbeat(at(still + 399)));
        CHECK(cluster.builder.wants_heartbeat(at(still + 400)));
    }
    SUBCASE("but not when all have everything") {
        CHECK_FALSE(tick(1, head, head));
    }
    SUBCASE("nor when it was received and only waits to be replayed") {
        CHECK_FALSE(tick(1, head - 500, head));
    }
    SUBCASE("nor for ever when it does not help") {
        int sent = 0;
        for (std::int64_t i = 1; i < 50; ++i) {
            if (tick(i, head - 8, head - 8)) {
                cluster.builder.heartbeat_sent(at(still + i * 200));
                ++sent;
            }
        }
        CHECK(sent == 5);
        CHECK(tick(50, head - 4, head - 4));
    }
    SUBCASE("nor without a primary") {
        tick(1, head - 8, head - 8);
        cluster.builder.add(0, failed(still + 400));
        CHECK_FALSE(cluster.builder.wants_heartbeat(at(still + 400)));
    }
}

TEST_SUITE_END();

}  // namespace weir::routing
