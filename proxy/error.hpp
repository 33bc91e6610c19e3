// What can go wrong between a client and its server, seen from inside. proxy/client_error turns it
// into what the client is told.
#pragma once

#include "protocol/diagnostic.hpp"

#include <boost/system/error_code.hpp>

#include <optional>
#include <string>
#include <type_traits>

namespace weir::proxy {

enum class errc {
    // No connection to the server can be had: refused, timed out, unreachable, TLS failed.
    server_unavailable = 1,
    // The connection was lost while the server owed an answer.
    server_lost,
    // The server refused the log-in; its own error says why.
    server_refused,
    // The server, or what answers in its place, broke the protocol.
    server_protocol,
    // Waited longer than queue_timeout for a free connection.
    queue_timeout,
    // More clients wait for this pool than max_waiting.
    queue_full,
    // A CancelRequest met the client in the queue.
    canceled_in_queue,
    // No server is the primary, and failover.wait is over.
    no_primary,
    // The rule allows replicas only, and none is fit.
    no_replica,
    // More clients than listen.max_clients.
    too_many_clients,
    // The proxy is shutting down.
    shutting_down,
    // The client did not finish its log-in in time.
    login_timeout,
    // The client has gone.
    client_gone,
    // The client broke the protocol.
    client_protocol,
    // No such database in the configuration.
    unknown_database,
    // No rule lets this client in, or its password is wrong.
    authentication_failed,
    // TLS is required by the configuration and the client did not ask for it.
    tls_required,
    // Something that pgweir does not do.
    not_supported,
    // Idle in a transaction for longer than allowed.
    idle_in_transaction,
    // Idle for longer than allowed.
    idle_client,
};

[[nodiscard]] const boost::system::error_category& proxy_category() noexcept;
[[nodiscard]] boost::system::error_code make_error_code(errc code) noexcept;

// A failure with everything that is known about it: which server, and the server's own error if it
// sent one.
struct failure {
    errc code = errc::server_unavailable;
    std::string context;                             // "n1 (127.0.0.1:5432): connection refused"
    std::optional<protocol::diagnostic> diagnostic;  // of server_refused
};

}  // namespace weir::proxy

template <>
struct boost::system::is_error_code_enum<weir::proxy::errc> : std::true_type {};
