// A client's first packets and its authentication, up to AuthenticationOk. What follows
// (ParameterStatus, BackendKeyData, ReadyForQuery) is the session's, since it needs a server.
#pragma once

#include "proxy/asio.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/stream.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::proxy {
struct worker_context;
}

namespace weir::proxy::client {

struct peer_address {
    std::string text;    // "127.0.0.1:51234", or "unix"
    std::string ip;      // numeric; empty for the Unix socket
    bool local = false;  // Unix socket
};

struct login_outcome {
    enum class kind : std::uint8_t {
        session,  // logged in
        cancel,   // a CancelRequest: pid and key are set
        closed,   // the client was told why, or has gone; nothing more to do
    };
    kind what = kind::closed;
    std::string user;
    std::string database;
    // Start-up parameters that are settings, and those of `options`, in order, names in lower case:
    // application_name and client_encoding are among them.
    std::vector<std::pair<std::string, std::string>> settings;
    std::int32_t cancel_pid = 0;
    std::string cancel_key;
};

// The stream's janitor deadline ends a log-in that takes too long: the stream is closed and this
// answers `closed`. `input` may hold bytes behind the log-in afterwards.
[[nodiscard]] asio::awaitable<login_outcome> log_in(
    worker_context& worker,
    std::shared_ptr<stream> peer,
    input_buffer& input,
    peer_address address
);

}  // namespace weir::proxy::client
