#include "routing/balancer.hpp"

#include <numeric>

namespace weir::routing {

namespace {

// Plain power of two choices bends the shares, so a second draw counts only against a server that
// is busy and whose expected wait per weight is more than twice the other's.
constexpr std::uint32_t busy_from = 8;
constexpr double much_worse = 2.0;
constexpr float average_step = 1.0F / 8.0F;
constexpr auto none = static_cast<std::size_t>(-1);

std::size_t draw(std::span<const double> weights, double total, random_source& random) noexcept {
    double rest = random.unit() * total;
    std::size_t last = none;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] <= 0) {
            continue;
        }
        last = i;
        if (rest < weights[i]) {
            return i;
        }
        rest -= weights[i];
    }
    return last;  // rounding used up the rest
}

server_load load_of(std::span<const server_load> loads, std::size_t index) noexcept {
    return index < loads.size() ? loads[index] : server_load{};
}

// Latencies count only when both are measured: an unmeasured server is neither fast nor slow.
bool is_much_worse(
    const server_load& first,
    double first_weight,
    const server_load& second,
    double second_weight
) noexcept {
    const bool measured = first.latency_us > 0 && second.latency_us > 0;
    const double first_latency = measured ? first.latency_us : 1.0;
    const double second_latency = measured ? second.latency_us : 1.0;
    const double first_cost = (first.in_flight + 1.0) * first_latency / first_weight;
    const double second_cost = (second.in_flight + 1.0) * second_latency / second_weight;
    return first_cost > much_worse * second_cost;
}

}  // namespace

void record_latency(server_load& load, float microseconds) noexcept {
    load.latency_us = load.latency_us == 0
                          ? microseconds
                          : load.latency_us + (microseconds - load.latency_us) * average_step;
}

std::size_t choose(
    std::span<const double> weights,
    std::span<const server_load> loads,
    random_source& random
) noexcept {
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    if (total <= 0) {
        return none;
    }
    const std::size_t first = draw(weights, total, random);
    const server_load first_load = load_of(loads, first);
    if (first_load.in_flight < busy_from) {
        return first;
    }
    const std::size_t second = draw(weights, total, random);
    const server_load second_load = load_of(loads, second);
    return is_much_worse(first_load, weights[first], second_load, weights[second]) ? second : first;
}

}  // namespace weir::routing
