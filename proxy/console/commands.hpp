// The commands, one file each: columns and function of the entries in command.cpp.
#pragma once

#include "proxy/console/command.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::proxy::console {

[[nodiscard]] fields clients_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> show_clients(const request& what);

[[nodiscard]] fields servers_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> show_servers(const request& what);

[[nodiscard]] fields pools_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> show_pools(const request& what);

[[nodiscard]] fields topology_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> show_topology(const request& what);

[[nodiscard]] std::optional<protocol::diagnostic> check_route(const tokens& arguments);
[[nodiscard]] fields route_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> show_route(const request& what);

[[nodiscard]] fields config_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> show_config(const request& what);

[[nodiscard]] fields version_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> show_version(const request& what);

[[nodiscard]] fields help_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> show_help(const request& what);

[[nodiscard]] fields reload_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> reload(const request& what);

[[nodiscard]] std::optional<protocol::diagnostic> check_migrate(const tokens& arguments);
[[nodiscard]] fields migrate_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> migrate(const request& what);
[[nodiscard]] fields migrations_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> show_migrations(const request& what);

// What drivers send on their own account: SET, BEGIN, … are answered and change nothing.
[[nodiscard]] std::optional<protocol::diagnostic> check_session_setting(const tokens& arguments);
[[nodiscard]] std::optional<protocol::diagnostic> accept_anything(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> accept(const request& what);

// ParameterStatus as the welcome tells them; SHOW name answers with them too.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> session_parameters(
    std::string_view user
);
[[nodiscard]] bool is_session_parameter(const tokens& arguments);
[[nodiscard]] fields parameter_columns(const tokens& arguments);
[[nodiscard]] asio::awaitable<answer> show_parameter(const request& what);

}  // namespace weir::proxy::console
