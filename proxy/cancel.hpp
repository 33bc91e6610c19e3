// Cancel requests: from a client to the session that its key names, from a session to its server.
#pragma once

#include "proxy/upstream/pool.hpp"
#include "proxy/worker.hpp"

#include <functional>
#include <string_view>

namespace weir::proxy {

// The 4 bytes of a key, in network order; 0 for any other length, which no session has.
[[nodiscard]] std::uint32_t cancel_secret(std::string_view key) noexcept;

// Looks for the session on every worker, and returns when its server has taken the request or
// nothing is to be done. Until then the caller keeps the requester's connection open: what a client
// sends after it was closed is not hit.
[[nodiscard]] asio::awaitable<void> forward_cancel(worker& from, cancel_key key);

// Cancels what the connection's client runs now. The connection is not lent again before the server
// has closed the cancel connection; if the client has let go of it when that connection is there,
// nothing is sent. `done` may be empty; it is called on the worker's thread when nothing of this
// request can hit anybody any more.
void cancel_on_server(
    worker& home,
    upstream::connection_ptr target,
    std::shared_ptr<const upstream::pool_target> server,
    std::function<void()> done
);

}  // namespace weir::proxy
