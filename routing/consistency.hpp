// May this server answer this read without breaking a promise? The one place where it is decided.
#pragma once

#include "config/config.hpp"
#include "routing/topology.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::routing {

// Where the session's own writes end, as far as the proxy knows.
struct session_token {
    enum class status : std::uint8_t {
        none,     // has not written
        pending,  // has written, the position is being asked for
        known,    // `at` lies at or after the last commit
        unknown,  // has written and the position could not be learnt: only the primary will do
    };
    status state = status::none;
    position at{};
};

// A later write: positions only go forward. One of another system or timeline replaces the old one.
void raise(session_token& token, const position& at);

enum class verdict : std::uint8_t {
    serves,
    excluded,  // server_state::excluded says why
    breaker_open,
    old_sample,     // measured too long ago to prove anything
    stale,          // older than the bound
    own_write,      // has not replayed what the session wrote
    token_pending,  // the session's position is still on its way
    primary_only,   // strong
};

[[nodiscard]] std::string_view name_of(verdict what);

// For a replica. `level` bounded with a bound of 0 means the cluster's lag.max.
// A token of another system or timeline is satisfied by the primary only: how far the switch point
// lies is not known here, and doubt goes to the primary.
[[nodiscard]] verdict may_serve(
    const topology& cluster,
    const server_state& server,
    const config::consistency& level,
    const session_token& token,
    steady_time now
);

// "strong", "bounded 2000 ms", "eventual".
[[nodiscard]] std::string to_string(const config::consistency& level);

}  // namespace weir::routing
