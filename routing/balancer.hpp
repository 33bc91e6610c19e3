// Which of several fit servers gets the next read. Shares follow the weights; load only steps in
// when a server is clearly worse off than another.
#pragma once

#include "routing/random.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::routing {

// What one worker knows about the load it puts on one server.
struct server_load {
    std::uint32_t in_flight = 0;
    float latency_us = 0;  // moving average; 0: not measured yet
    bool refused = false;  // its breaker is open: gets no reads
};

// Moves the average one eighth of the way to the new figure.
void record_latency(server_load& load, float microseconds) noexcept;

// An index into `weights`, or no index (the largest size_t) when none is above zero. `loads` may be
// shorter than `weights`; a server without one is idle. Weights must not be negative.
[[nodiscard]] std::size_t choose(
    std::span<const double> weights,
    std::span<const server_load> loads,
    random_source& random
) noexcept;

}  // namespace weir::routing
