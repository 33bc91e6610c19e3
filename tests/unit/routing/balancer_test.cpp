#include "routing/balancer.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <queue>
#include <vector>

namespace weir::routing {

namespace {

constexpr auto none = static_cast<std::size_t>(-1);

// Clients that each send the next read when the last is answered; service times are exponential.
std::vector<double>
simulate(const std::vector<double>& weights, const std::vector<double>& mean_us, int clients) {
    struct answer {
        double when;
        std::size_t server;
        double latency;

        bool operator<(const answer& other) const { return when > other.when; }
    };

    constexpr int reads = 100'000;
    random_source random(42);
    std::vector<server_load> loads(weights.size());
    std::vector<double> shares(weights.size());
    std::priority_queue<answer> pending;
    const auto send = [&](double now) {
        const std::size_t server = choose(weights, loads, random);
        const double latency = -std::log(1.0 - random.unit()) * mean_us[server];
        ++loads[server].in_flight;
        shares[server] += 1.0 / reads;
        pending.push({now + latency, server, latency});
    };
    for (int i = 0; i < clients; ++i) {
        send(0);
    }
    for (int i = clients; i < reads; ++i) {
        const answer next = pending.top();
        pending.pop();
        --loads[next.server].in_flight;
        record_latency(loads[next.server], static_cast<float>(next.latency));
        send(next.when);
    }
    return shares;
}

}  // namespace

TEST_SUITE_BEGIN("routing.balancer");

TEST_CASE("shares follow the weights for 1 to 200 clients") {
    struct row {
        const char* name;
        std::vector<double> weights;
    };

    const row rows[] = {
        {"80 to 20", {0.8, 0.2}},
        {"half-lives 0 1 2", {1.0, 0.5, 0.25}},
        {"equal", {1.0, 1.0}},
        {"one shut out", {1.0, 0.0, 1.0}},
    };
    for (const row& r : rows) {
        double total = 0;
        for (const double w : r.weights) {
            total += w;
        }
        const std::vector<double> same_speed(r.weights.size(), 1000.0);
        for (const int clients : {1, 2, 8, 20, 50, 100, 200}) {
            CAPTURE(r.name);
            CAPTURE(clients);
            const auto shares = simulate(r.weights, same_speed, clients);
            for (std::size_t i = 0; i < shares.size(); ++i) {
                CAPTURE(i);
                CHECK(std::abs(shares[i] - r.weights[i] / total) < 0.03);
            }
        }
    }
}

TEST_CASE("a server that has become far slower gets less than its weight") {
    const auto shares = simulate({1.0, 1.0}, {1000.0, 20'000.0}, 100);
    CHECK(shares[1] < 0.4);
    CHECK(shares[1] > 0.01);
}

TEST_CASE("nobody is chosen when every weight is zero") {
    random_source random(1);
    CHECK(choose({}, {}, random) == none);
    const std::array weights{0.0, 0.0};
    CHECK(choose(weights, {}, random) == none);
}

TEST_CASE("a second draw counts only against a busy server that is more than twice as bad") {
    struct row {
        const char* name;
        std::uint32_t in_flight;
        float latency;
        bool evens_out;  // the share of the first stays at its weight
    };

    // The other has three in flight of latency 100, a cost of 400; so the limit for the first is
    // 800.
    const row rows[] = {
        {"seven in flight are not busy", 7, 1000, true},
        {"eight in flight and far worse", 8, 1000, false},
        {"not quite twice as bad", 8, 88, true},
        {"just over twice as bad", 8, 89, false},
        {"without a latency the counts decide", 8, 0, false},
    };
    for (const row& r : rows) {
        CAPTURE(r.name);
        const std::array weights{1.0, 1.0};
        const std::array loads{
            server_load{r.in_flight, r.latency, false},
            server_load{3, 100, false}};
        random_source random(7);
        int first = 0;
        for (int i = 0; i < 10'000; ++i) {
            first += choose(weights, loads, random) == 0 ? 1 : 0;
        }
        CHECK(first == doctest::Approx(r.evens_out ? 5000 : 2500).epsilon(0.05));
    }
}

TEST_CASE("latency is a moving average that starts at the first figure") {
    server_load load;
    record_latency(load, 800);
    CHECK(load.latency_us == 800);
    record_latency(load, 1600);
    CHECK(load.latency_us == 900);
}

TEST_CASE("the random source is uniform and repeats for a seed") {
    random_source one(5);
    random_source same(5);
    random_source other(6);
    double sum = 0;
    bool differs = false;
    for (int i = 0; i < 10'000; ++i) {
        const double value = one.unit();
        CHECK(value == same.unit());
        differs = differs || value != other.unit();
        CHECK(value >= 0.0);
        CHECK(value < 1.0);
        sum += value;
    }
    CHECK(differs);
    CHECK(sum / 10'000 == doctest::Approx(0.5).epsilon(0.02));
}

TEST_SUITE_END();

}  // namespace weir::routing
