// Which way to a server is tried, and which one after it, exactly as libpq's sslmode has it. Pure.
#pragma once

#include "config/config.hpp"

#include <cstdint>
#include <optional>

namespace weir::proxy::upstream {

enum class transport : std::uint8_t {
    plain,           // do not ask for TLS
    tls_if_offered,  // ask; go on without if the server says no
    tls,             // ask; give up if the server says no
};

// Over a Unix socket there is no TLS, as with libpq.
[[nodiscard]] transport first_transport(config::tls_mode mode, bool unix_socket) noexcept;

// After an attempt that failed: another one, over a connection of its own, or none. `encrypted`:
// whether TLS was in use or being set up when it failed. `other_may_work`: the handshake failed, or
// the server refused before it asked for any proof (its rules may be for the other kind of
// connection).
[[nodiscard]] std::optional<transport> next_transport(
    config::tls_mode mode,
    transport tried,
    bool encrypted,
    bool other_may_work
) noexcept;

}  // namespace weir::proxy::upstream
