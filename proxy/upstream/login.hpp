// Logging in to a server: resolve, connect, TLS, start-up, authentication, up to the first
// ReadyForQuery. Settings of clients are never part of it: they would become the reset defaults of
// the server's session.
#pragma once

#include "proxy/asio.hpp"
#include "proxy/parameters.hpp"
#include "proxy/stream.hpp"
#include "proxy/upstream/connection.hpp"
#include "proxy/upstream/pool.hpp"

#include <memory>
#include <optional>

namespace weir::proxy::upstream {

struct logged_in {
    std::optional<failure> refused;  // set: nothing else is
    std::shared_ptr<weir::proxy::stream> stream;
    connection::identity who;
    parameter_map parameters;  // without in_hot_standby
    bool hot_standby = false;
};

// Ends within limits.connect_timeout. Errors: server_unavailable with what failed and where;
// server_refused with the server's own error, which may come even behind AuthenticationOk;
// server_protocol.
[[nodiscard]] asio::awaitable<logged_in>
log_in(worker_context& worker, pool_target target, config::pool limits);

[[nodiscard]] connection_ptr make_connection(
    worker_context& worker,
    connection_owner& owner,
    const pool_target& target,
    const config::pool& limits,
    logged_in&& outcome
);

}  // namespace weir::proxy::upstream
