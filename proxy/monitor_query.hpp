// What the monitor asks a server, and how it reads the answer. No I/O.
#pragma once

#include "routing/lag.hpp"

#include <array>
#include <string>
#include <string_view>

namespace weir::proxy {

// One row: recovery, system identifier, timeline, replay, receive and insert position, pause state,
// version.
[[nodiscard]] std::string_view monitor_sql();

// Brings the positions of an idle primary and its replicas together by a small record.
[[nodiscard]] std::string_view heartbeat_sql();

constexpr std::size_t monitor_columns = 8;
using monitor_row = std::array<std::string_view, monitor_columns>;  // NULL is empty

// `sample.error` says what was wrong with a row that cannot be read. `taken` is left alone.
[[nodiscard]] routing::server_sample sample_of(const monitor_row& row);

// The timeline in IDENTIFY_SYSTEM's second column; 0 if it is none.
[[nodiscard]] routing::timeline_id decimal_timeline(std::string_view text);

}  // namespace weir::proxy
