// Waiting for what another process does, with a bound. A bound that passes is a failed test, never
// a measurement.
#pragma once

#include <chrono>
#include <functional>

namespace weir::integration {

using namespace std::chrono_literals;
using milliseconds = std::chrono::milliseconds;
using time_point = std::chrono::steady_clock::time_point;

inline constexpr milliseconds patience = 20s;

// Asks every few milliseconds until the answer is true. False: it never was.
[[nodiscard]] bool wait_until(const std::function<bool()>& done, milliseconds limit = patience);

// What is left until then in whole milliseconds, 0 when it has passed. For poll(2).
[[nodiscard]] int left_ms(time_point until);

// A value of the environment; a failed test when it is not set.
[[nodiscard]] const char* environment(const char* name);

// PGWEIR_LONG is set: tests with a long form take it.
[[nodiscard]] bool long_form();

}  // namespace weir::integration
