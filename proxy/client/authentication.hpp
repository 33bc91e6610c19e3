// Lets a client in or not: finds the rule, runs the exchange it asks for.
#pragma once

#include "proxy/asio.hpp"
#include "proxy/client/login.hpp"
#include "proxy/client/rejection.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/stream.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace weir::proxy::client {

// Before a failure is told. Only that client waits.
inline constexpr std::chrono::milliseconds failure_delay{250};

// Nothing: the client is who it says, and AuthenticationOk is written but not flushed. The log-in's
// own frame holds all arguments until this ends.
[[nodiscard]] asio::awaitable<std::optional<rejection>> authenticate(
    worker_context& worker,
    stream& peer,
    input_buffer& input,
    const peer_address& address,
    const login_outcome& who
);

}  // namespace weir::proxy::client
