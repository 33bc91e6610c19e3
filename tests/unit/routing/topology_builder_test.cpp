#include "routing/topology_builder.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "cluster_fixture.hpp"

namespace weir::routing {

namespace {

constexpr std::uint64_t stranger = 9999;

}  // namespace

TEST_SUITE_BEGIN("routing.topology_builder");

TEST_CASE("the primary is the server that is not in recovery") {
    busy_cluster cluster;
    const auto now = cluster.step(0, 0);
    CHECK(now->primary == 0);
    CHECK(now->system_identifier == our_system);
    CHECK(now->timeline == timeline_id{1});
    CHECK(now->cluster == "main");
    CHECK(now->version == 3);
    CHECK(now->lag_max == milliseconds{10'000});
    CHECK(now->servers[0].role == server_role::primary);
    CHECK(now->servers[0].excluded == exclusion::not_a_replica);
    CHECK(now->servers[0].weight == 0.0);
    CHECK(now->servers[1].role == server_role::replica);
    CHECK(now->servers[1].excluded == exclusion::none);
    CHECK(now->servers[1].weight == doctest::Approx(1.0));
    CHECK(now->servers[1].server_version == 150000);
}

TEST_CASE("the weight halves with every half-life of lag") {
    config::cluster config = three_servers();
    config.lag.max = milliseconds{100'000};
    config.servers[2].weight = 3.0;
    busy_cluster cluster(config);
    for (std::int64_t i = 0; i < 100; ++i) {
        cluster.step(0, 0);
    }

    struct row {
        std::int64_t lag;
        double factor;
    };

    for (const row& r :
         {row{0, 1.0},
          row{500, std::sqrt(0.5)},
          row{1000, 0.5},
          row{2000, 0.25},
          row{10'000, 1.0 / 1024}}) {
        CAPTURE(r.lag);
        const auto now = cluster.step(r.lag, r.lag);
        CHECK(now->servers[1].lag == milliseconds{r.lag});
        CHECK(now->servers[1].lag_bytes == static_cast<std::uint64_t>(r.lag) * 5);
        CHECK(now->servers[1].weight == doctest::Approx(r.factor));
        CHECK(now->servers[2].weight == doctest::Approx(3.0 * r.factor));
    }
}

TEST_CASE("a server shut out for lag comes back only below 80 percent of the limit") {
    config::cluster config = three_servers();
    config.lag.max = milliseconds{1000};
    busy_cluster cluster(config);
    for (std::int64_t i = 0; i < 20; ++i) {
        cluster.step(0, 0);
    }

    struct row {
        std::int64_t lag;
        exclusion excluded;
    };

    const row rows[] = {
        {1000, exclusion::none},
        {1001, exclusion::lag},
        {900, exclusion::lag},
        {800, exclusion::lag},
        {799, exclusion::none},
        {950, exclusion::none},
        {1200, exclusion::lag},
    };
    for (const row& r : rows) {
        CAPTURE(r.lag);
        const auto now = cluster.step(r.lag, 0);
        CHECK(now->servers[1].excluded == r.excluded);
        CHECK((now->servers[1].weight == 0.0) == (r.excluded != exclusion::none));
        CHECK(now->servers[2].excluded == exclusion::none);
    }
}

TEST_CASE("a server that comes back from a failure warms up from 10 percent") {
    config::cluster config = three_servers();
    config.lag.slow_start = milliseconds{2000};
    busy_cluster cluster(config);
    for (std::int64_t i = 0; i < 20; ++i) {
        cluster.step(0, 0);
    }
    CHECK(cluster.step(0, 0)->servers[1].weight == doctest::Approx(1.0));
    cluster.builder.add(1, failed(cluster.ms()));
    CHECK(cluster.builder.build(at(cluster.ms()))->servers[1].excluded == exclusion::unreachable);
    for (std::int64_t i = 0; i <= 10; ++i) {
        CAPTURE(i);
        const auto now = cluster.step(0, 0);
        CHECK(now->servers[1].weight == doctest::Approx(0.1 + 0.09 * static_cast<double>(i)));
        CHECK(now->servers[2].weight == doctest::Approx(1.0));
    }
    CHECK(cluster.step(0, 0)->servers[1].weight == doctest::Approx(1.0));
}

TEST_CASE("a failed probe excludes at once and its error is shown") {
    busy_cluster cluster;
    cluster.builder.add(1, failed(cluster.ms(), "timed out"));
    const auto now = cluster.builder.build(at(cluster.ms()));
    CHECK_FALSE(now->servers[1].up);
    CHECK(now->servers[1].excluded == exclusion::unreachable);
    CHECK(now->servers[1].error == "timed out");
    CHECK(cluster.step(0, 0)->servers[1].error.empty());
}

TEST_CASE("an old sample is no sample") {
    busy_cluster cluster;
    const auto last = cluster.ms();
    CHECK(cluster.builder.build(at(last + 1000))->servers[1].excluded == exclusion::none);
    CHECK(cluster.builder.build(at(last + 1001))->servers[1].excluded == exclusion::no_sample);
}

TEST_CASE("an answer from another system is fenced") {
    busy_cluster cluster;
    server_sample other = replica_at(cluster.ms(), cluster.head());
    other.system_identifier = stranger;
    cluster.builder.add(1, other);
    CHECK(cluster.builder.build(at(cluster.ms()))->servers[1].excluded == exclusion::other_system);

    SUBCASE("even if it is a primary") {
        other.in_recovery = false;
        cluster.builder.add(1, other);
        const auto now = cluster.builder.build(at(cluster.ms()));
        CHECK(now->primary == 0);
        CHECK_FALSE(now->two_primaries);
        CHECK(now->servers[1].excluded == exclusion::other_system);
    }
    SUBCASE("even if nobody else is left") {
        other.in_recovery = false;
        cluster.builder.add(1, other);
        cluster.builder.add(0, failed(cluster.ms()));
        cluster.builder.add(2, failed(cluster.ms()));
        CHECK(cluster.builder.build(at(cluster.ms()))->primary == no_server);
    }
}

TEST_CASE("a stranger that answers first does not become the cluster") {
    topology_builder builder(three_servers());
    server_sample other = primary_at(0, 5000);
    other.system_identifier = stranger;
    builder.add(2, other);
    CHECK(builder.build(at(0))->primary == no_server);
    CHECK(builder.build(at(0))->system_identifier == 0);
    builder.add(0, primary_at(0, 1000));
    builder.add(1, replica_at(0, 1000));
    const auto now = builder.build(at(0));
    CHECK(now->system_identifier == our_system);
    CHECK(now->primary == 0);
    CHECK(now->servers[2].excluded == exclusion::other_system);
}

TEST_CASE("a single configured server is known with its first answer") {
    config::cluster config = three_servers();
    config.servers.resize(1);
    topology_builder builder(config);
    builder.add(0, primary_at(0, 1000));
    CHECK(builder.build(at(0))->primary == 0);
}

TEST_CASE("a replica of another timeline is excluded and one that cannot tell keeps its last") {
    busy_cluster cluster;
    cluster.builder.add(1, replica_at(cluster.ms(), cluster.head(), 3));
    CHECK(
        cluster.builder.build(at(cluster.ms()))->servers[1].excluded == exclusion::other_timeline
    );
    cluster.builder.add(2, replica_at(cluster.ms(), cluster.head(), 0));
    const auto now = cluster.builder.build(at(cluster.ms()));
    CHECK(now->servers[2].timeline == timeline_id{1});
    CHECK(now->servers[2].excluded == exclusion::none);
}

TEST_CASE("a standby on a newer timeline takes the primary its office") {
    busy_cluster cluster;
    cluster.builder.add(1, replica_at(cluster.ms(), cluster.head(), 2));
    const auto now = cluster.builder.build(at(cluster.ms()));
    CHECK(now->primary == no_server);
    CHECK_FALSE(now->two_primaries);
}

TEST_CASE("a promoted server is the primary once the old one is gone") {
    busy_cluster cluster;
    const auto ms = cluster.ms();
    cluster.builder.add(0, failed(ms + 200));
    CHECK(cluster.builder.build(at(ms + 200))->primary == no_server);
    cluster.builder.add(1, primary_at(ms + 400, cluster.head(), 2));
    auto now = cluster.builder.build(at(ms + 400));
    CHECK(now->primary == 1);
    CHECK(now->timeline == timeline_id{2});
    CHECK(now->servers[1].excluded == exclusion::not_a_replica);
    CHECK(now->servers[2].excluded == exclusion::other_timeline);

    cluster.builder.add(1, primary_at(ms + 600, cluster.head(), 2));
    cluster.builder.add(2, replica_at(ms + 600, cluster.head(), 2));
    CHECK(cluster.builder.build(at(ms + 600))->servers[2].excluded == exclusion::none);

    SUBCASE("and the old one does not get the office back while the new one is away") {
        cluster.builder.add(1, failed(ms + 800));
        cluster.builder.add(2, failed(ms + 800));
        cluster.builder.add(0, primary_at(ms + 800, cluster.head(), 1));
        now = cluster.builder.build(at(ms + 800));
        CHECK(now->primary == no_server);
        CHECK_FALSE(now->two_primaries);
    }
    SUBCASE("nor over a reload") {
        topology_builder reloaded(three_servers(), cluster.builder.build(at(ms + 800)).get());
        reloaded.add(0, primary_at(ms + 900, cluster.head(), 1));
        CHECK(reloaded.build(at(ms + 900))->primary == no_server);
        reloaded.add(1, primary_at(ms + 900, cluster.head(), 2));
        CHECK(reloaded.build(at(ms + 900))->two_primaries);
    }
}

TEST_CASE("two writable servers stop new writes until one remains") {
    for (const std::uint32_t timeline : {1U, 2U}) {
        CAPTURE(timeline);
        busy_cluster cluster;
        const auto ms = cluster.ms();
        cluster.builder.add(1, primary_at(ms, cluster.head(), timeline));
        auto now = cluster.builder.build(at(ms));
        CHECK(now->two_primaries);
        CHECK(now->primary == no_server);
        cluster.builder.add(1, failed(ms + 200));
        now = cluster.builder.build(at(ms + 200));
        CHECK_FALSE(now->two_primaries);
        CHECK(now->primary == 0);
    }
}

TEST_CASE("without a primary replicas keep their last lag and what is proven grows old") {
    busy_cluster cluster;
    for (std::int64_t i = 0; i < 20; ++i) {
        cluster.step(0, 1000);
    }
    const auto ms = cluster.ms();
    cluster.builder.add(0, failed(ms));
    for (std::int64_t i = 1; i <= 100; ++i) {
        cluster.builder.add(1, replica_at(ms + i * 200, cluster.head()));
        cluster.builder.add(2, replica_at(ms + i * 200, cluster.head() - 5000));
    }
    const auto now = cluster.builder.build(at(ms + 20'000));
    CHECK(now->primary == no_server);
    CHECK(now->servers[1].excluded == exclusion::none);
    CHECK(now->servers[1].lag == milliseconds{0});
    CHECK(now->servers[1].proven_lag == milliseconds{20'000});
    CHECK(now->servers[2].lag == milliseconds{1000});
    CHECK(now->servers[2].weight == doctest::Approx(0.5));
    CHECK(staleness(now->servers[2], at(ms + 20'100)) == milliseconds{21'100});
}

TEST_SUITE_END();

}  // namespace weir::routing
