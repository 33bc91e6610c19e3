// From a server's host and port to a connected stream: TCP, or a Unix socket if the host is a
// directory.
#pragma once

#include "config/config.hpp"
#include "proxy/asio.hpp"
#include "proxy/stream.hpp"
#include "proxy/upstream/time_limit.hpp"

#include <memory>
#include <string>

namespace weir::proxy::upstream {

struct dialled {
    std::shared_ptr<weir::proxy::stream> stream;  // null: see problem
    std::string problem;                          // which step failed, and why
};

// As libpq has it: the host is the directory of a Unix socket.
[[nodiscard]] bool is_unix_host(const std::string& host) noexcept;

// All addresses of a name are tried in the order in which the resolver gives them. `to` and `limit`
// must live until this ends. After the limit the problem is of no interest: see limit.over().
[[nodiscard]] asio::awaitable<dialled>
dial(asio::io_context& io, const config::server& to, time_limit& limit);

}  // namespace weir::proxy::upstream
