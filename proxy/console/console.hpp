// The console: a virtual database, "pgweir" or "pgbouncer", that answers commands instead of SQL,
// by the simple and the extended protocol. One file per command. It runs on the client's worker and
// asks the others by message.
#pragma once

#include "proxy/asio.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/stream.hpp"

#include <string>
#include <string_view>

namespace weir::proxy {
class worker;
}

namespace weir::proxy::console {

[[nodiscard]] bool is_console(std::string_view database) noexcept;

// From the welcome to the client's end. The user has been authenticated; its rights are those of
// config.console.
[[nodiscard]] asio::awaitable<void>
serve(worker& home, std::shared_ptr<stream> peer, input_buffer& input, std::string user);

}  // namespace weir::proxy::console
