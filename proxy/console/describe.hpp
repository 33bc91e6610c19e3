// Small things that several SHOW commands print alike.
#pragma once

#include "proxy/console/answer.hpp"
#include "proxy/worker_context.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace weir::proxy::console {

// "2026-08-22 18:43:11 UTC"; NULL for a time that never was.
[[nodiscard]] cell wall_time(steady_time at, steady_time now);

// Of "127.0.0.1:51234", "[::1]:51234" or "unix": address and port, 0 where there is none.
[[nodiscard]] std::pair<std::string, std::int64_t> split_address(std::string_view text);

// Whole seconds, and the microseconds beyond them; none below zero.
struct wait_cells {
    std::int64_t seconds = 0;
    std::int64_t microseconds = 0;
};

[[nodiscard]] wait_cells wait_of(std::chrono::steady_clock::duration waited);

// A worker did not answer.
[[nodiscard]] answer incomplete();

}  // namespace weir::proxy::console
