#include "routing/breaker.hpp"

#include <doctest/doctest.h>

#include "cluster_fixture.hpp"

namespace weir::routing {

namespace {

breaker_options no_jitter() {
    breaker_options options;
    options.jitter = 0;
    return options;
}

}  // namespace

TEST_SUITE_BEGIN("routing.breaker");

TEST_CASE("every pair of breaker states") {
    using enum breaker_state;

    struct row {
        breaker_state from;
        breaker_state to;
        bool allowed;
    };

    const row rows[] = {
        {closed, closed, true},
        {closed, open, true},
        {closed, half_open, false},
        {open, closed, true},
        {open, open, false},
        {open, half_open, true},
        {half_open, closed, true},
        {half_open, open, true},
        {half_open, half_open, false},
    };
    for (const row& r : rows) {
        CAPTURE(static_cast<int>(r.from));
        CAPTURE(static_cast<int>(r.to));
        CHECK(may_follow(r.from, r.to) == r.allowed);
    }
}

TEST_CASE("failures in a row open it and a success in between does not") {
    random_source random(1);
    breaker b(no_jitter());
    b.failed(at(0), random);
    b.failed(at(0), random);
    b.succeeded();
    b.failed(at(0), random);
    b.failed(at(0), random);
    CHECK(b.state() == breaker_state::closed);
    CHECK(b.allow(at(0)));
    b.failed(at(0), random);
    CHECK(b.state() == breaker_state::open);
    CHECK_FALSE(b.allow(at(0)));
}

TEST_CASE("a refused connection opens it at once") {
    random_source random(1);
    breaker b(no_jitter());
    b.refused(at(0), random);
    CHECK(b.state() == breaker_state::open);
    CHECK(b.open_until() == at(200));
}

TEST_CASE("after the back-off one trial is let through") {
    random_source random(1);
    breaker b(no_jitter());
    b.refused(at(0), random);
    CHECK_FALSE(b.allow(at(199)));
    CHECK(b.would_allow(at(200)));
    CHECK(b.state() == breaker_state::open);
    CHECK(b.allow(at(200)));
    CHECK(b.state() == breaker_state::half_open);
    CHECK_FALSE(b.allow(at(200)));
    CHECK_FALSE(b.would_allow(at(10'000)));
    b.succeeded();
    CHECK(b.state() == breaker_state::closed);
    CHECK(b.allow(at(200)));
}

TEST_CASE("each failed trial doubles the back-off up to its limit") {
    random_source random(1);
    breaker b(no_jitter());
    b.refused(at(0), random);
    auto now = b.open_until();
    for (const int wait : {400, 800, 1600, 3200, 6400, 12'800, 25'600, 30'000, 30'000}) {
        CAPTURE(wait);
        CHECK(b.allow(now));
        b.failed(now, random);
        CHECK(b.open_until() - now == milliseconds{wait});
        now = b.open_until();
    }
    CHECK(b.allow(now));
    b.succeeded();
    b.refused(now, random);
    CHECK(b.open_until() - now == milliseconds{200});
}

TEST_CASE("failures while it is open change nothing") {
    random_source random(1);
    breaker b(no_jitter());
    b.refused(at(0), random);
    b.failed(at(100), random);
    b.refused(at(100), random);
    CHECK(b.open_until() == at(200));
}

TEST_CASE("jitter stretches the back-off by up to a fifth") {
    random_source random(1);
    bool differs = false;
    for (std::int64_t i = 0; i < 100; ++i) {
        breaker b;
        b.refused(at(0), random);
        CHECK(b.open_until() >= at(200));
        CHECK(b.open_until() <= at(240));
        differs = differs || b.open_until() > at(210);
    }
    CHECK(differs);
}

TEST_SUITE_END();

}  // namespace weir::routing
