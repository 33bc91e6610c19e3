#include "proxy/client_error.hpp"

#include "protocol/sqlstate.hpp"

#include <string>

namespace weir::proxy {
namespace {

using protocol::diagnostic;
namespace sqlstates = protocol::sqlstates;

struct row {
    protocol::sqlstate code;
    const char* message;  // the context follows in parentheses
    const char* hint;
};

// Errors of the session and its log-in.
row look_up_more(errc code) {
    switch (code) {
    case errc::canceled_in_queue:
        return {sqlstates::query_canceled, "canceling statement due to user request", ""};
    case errc::no_primary:
        return {
            sqlstates::cannot_connect_now,
            "no server of the cluster is the primary, and failover.wait is over",
            "See SHOW TOPOLOGY."};
    case errc::no_replica:
        return {
            sqlstates::cannot_connect_now,
            "no replica is fit for this statement, and its rule allows replicas only",
            "See SHOW ROUTE and SHOW TOPOLOGY."};
    case errc::too_many_clients:
        return {
            sqlstates::too_many_connections,
            "sorry, too many clients already",
            "See listen.max_clients."};
    case errc::shutting_down:
        return {sqlstates::admin_shutdown, "terminating connection: pgweir is shutting down", ""};
    case errc::login_timeout:
        return {
            sqlstates::invalid_authorization,
            "log-in took too long",
            "See listen.login_timeout."};
    case errc::client_gone: return {sqlstates::connection_failure, "the client has gone", ""};
    case errc::client_protocol: return {sqlstates::protocol_violation, "protocol violation", ""};
    case errc::unknown_database:
        return {
            sqlstates::invalid_catalog_name,
            "no such database is configured",
            "See databases in the configuration."};
    case errc::authentication_failed:
        return {sqlstates::invalid_password, "password authentication failed", ""};
    case errc::tls_required:
        return {
            sqlstates::invalid_authorization,
            "TLS is required",
            "Connect with sslmode=require."};
    case errc::not_supported:
        return {sqlstates::feature_not_supported, "not supported by pgweir", ""};
    case errc::idle_in_transaction:
        return {
            sqlstates::idle_in_transaction_timeout,
            "terminating connection: idle in a transaction for too long",
            ""};
    case errc::idle_client:
        return {sqlstates::idle_session_timeout, "terminating connection: idle for too long", ""};
    default: break;
    }
    return {sqlstates::internal_error, "internal error", ""};
}

// Errors of servers and pools first.
row look_up(errc code) {
    switch (code) {
    case errc::server_unavailable:
        return {
            sqlstates::connection_failure,
            "server is not available",
            "Check that the server runs and accepts connections."};
    case errc::server_lost:
        return {
            sqlstates::connection_failure,
            "connection to the server was lost while a statement was running",
            "The statement may or may not have taken effect."};
    case errc::server_refused:
        return {sqlstates::rejected_connection, "the server refused the log-in", ""};
    case errc::server_protocol:
        return {
            sqlstates::protocol_violation,
            "the server sent an unexpected message; its connection was closed",
            ""};
    case errc::queue_timeout:
        return {
            sqlstates::too_many_connections,
            "no server connection became free within queue_timeout",
            "Raise pool.size or look for long transactions with SHOW CLIENTS."};
    case errc::queue_full:
        return {
            sqlstates::too_many_connections,
            "too many clients already wait for this pool",
            "See pool.max_waiting."};
    default: return look_up_more(code);
    }
}

diagnostic make(const failure& what, protocol::severity level) {
    if (what.code == errc::server_refused && what.diagnostic) {
        diagnostic own = *what.diagnostic;
        own.level = level;
        return own;
    }
    const row found = look_up(what.code);
    diagnostic made;
    made.level = level;
    made.code = found.code;
    made.message = found.message;
    if (!what.context.empty()) {
        made.message += ": " + what.context;
    }
    made.hint = found.hint;
    return made;
}

}  // namespace

diagnostic client_error(const failure& what) {
    return make(what, protocol::severity::error);
}

diagnostic client_fatal(const failure& what) {
    return make(what, protocol::severity::fatal);
}

}  // namespace weir::proxy
