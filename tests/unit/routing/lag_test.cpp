#include "routing/lag.hpp"

#include <doctest/doctest.h>

#include "cluster_fixture.hpp"

namespace weir::routing {

namespace {

position_history busy_primary() {
    position_history history;
    history.add(at(0), {1000});
    history.add(at(200), {2000});
    history.add(at(400), {4000});
    return history;
}

}  // namespace

TEST_SUITE_BEGIN("routing.lag");

TEST_CASE("lag is the time since the primary stood where the replica stands") {
    struct row {
        const char* name;
        std::uint64_t replica;
        bool known;
        int likely;
        int proven;
    };

    const row rows[] = {
        {"before everything remembered", 999, false, 400, 400},
        {"on the first sample", 1000, true, 400, 400},
        {"halfway between two samples", 1500, true, 300, 400},
        {"on a sample", 2000, true, 200, 200},
        {"a quarter of the way", 2500, true, 150, 200},
        {"on the newest sample", 4000, true, 0, 0},
        {"ahead of the newest sample", 5000, true, 0, 0},
    };
    const position_history history = busy_primary();
    for (const row& r : rows) {
        CAPTURE(r.name);
        const lag_estimate lag = history.estimate({r.replica}, at(400));
        CHECK(lag.known == r.known);
        CHECK(lag.likely == milliseconds{r.likely});
        CHECK(lag.proven == milliseconds{r.proven});
    }
}

TEST_CASE("a replica that has all may still be as old as the newest sample") {
    const lag_estimate lag = busy_primary().estimate({4000}, at(550));
    CHECK(lag.likely == milliseconds{0});
    CHECK(lag.proven == milliseconds{150});
}

TEST_CASE("a replica measured before the primary has no negative lag") {
    const lag_estimate lag = busy_primary().estimate({4000}, at(350));
    CHECK(lag.likely == milliseconds{0});
    CHECK(lag.proven == milliseconds{0});
}

TEST_CASE("proven lag is rounded up") {
    const lag_estimate lag =
        busy_primary().estimate({4000}, at(500) + std::chrono::microseconds{1});
    CHECK(lag.proven == milliseconds{101});
}

TEST_CASE("time that passes while the primary stands still is no lag") {
    position_history history;
    for (std::int64_t minute = 0; minute <= 10; ++minute) {
        history.add(at(minute * 60'000), {1000});
    }
    CHECK(history.size() == 1);
    const lag_estimate lag = history.estimate({1000}, at(600'000));
    CHECK(lag.known);
    CHECK(lag.likely == milliseconds{0});
    CHECK(lag.proven == milliseconds{0});
}

TEST_CASE("writing after a long rest counts from the last time the primary was at rest") {
    position_history history;
    history.add(at(0), {1000});
    history.add(at(60'000), {1000});
    history.add(at(60'200), {2000});
    CHECK(history.estimate({1000}, at(60'200)).likely == milliseconds{200});
}

TEST_CASE("a position that goes back clears the past") {
    position_history history = busy_primary();
    history.add(at(600), {3500});
    CHECK(history.size() == 1);
    CHECK_FALSE(history.estimate({3000}, at(600)).known);
}

TEST_CASE("a sample from the past is dropped") {
    position_history history = busy_primary();
    history.add(at(300), {9000});
    CHECK(history.size() == 3);
    CHECK(history.newest() == at(400));
}

TEST_CASE("the history is bounded and long lags only become coarser") {
    position_history history;
    constexpr std::int64_t samples = 20'000;
    for (std::int64_t i = 0; i < samples; ++i) {
        history.add(at(i * 200), {static_cast<std::uint64_t>(1000 + i * 10)});
    }
    CHECK(history.size() <= position_history::capacity);
    const auto now = at((samples - 1) * 200);
    for (const std::int64_t behind : {1, 10, 1000, 10'000, 19'999}) {
        CAPTURE(behind);
        const std::uint64_t where = 1000 + static_cast<std::uint64_t>(samples - 1 - behind) * 10;
        const lag_estimate lag = history.estimate({where}, now);
        CHECK(lag.known);
        CHECK(lag.likely == milliseconds{behind * 200});
        CHECK(lag.proven >= lag.likely);
    }
}

TEST_CASE("without a history nothing is known") {
    CHECK_FALSE(position_history{}.estimate({1}, at(0)).known);
}

TEST_SUITE_END();

}  // namespace weir::routing
