// The commands behind the command line, with the options they take. Each returns the exit code.
#pragma once

#include "config/config.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::proxy::cli {

struct serve_options {
    std::string file;
    // Without a file:
    std::vector<std::string> servers;  // host:port
    std::string listen;                // address:port; empty: the default
    std::string http;                  // the same, or off
    std::string user;                  // the monitor's
    std::string password_variable;     // name of an environment variable
};

[[nodiscard]] int serve(const serve_options& options);

// The configuration that serve() would run, or the errors, one each.
struct made_config {
    std::shared_ptr<const config::config> value;
    std::vector<std::string> errors;
};

[[nodiscard]] made_config config_of(const serve_options& options);

[[nodiscard]] int check(const std::string& file, bool connect);
// Logs in to every server of the configuration as its monitor would, and prints what it finds.
[[nodiscard]] int check_servers(const config::config& from);

[[nodiscard]] int diff(const std::string& before, const std::string& after);

enum class reference_kind : std::uint8_t { page, json_schema, example };
[[nodiscard]] int print_reference(reference_kind what);

struct console_options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 6432;
    std::string user;
    bool json = false;
};

// Sends one command to the console of a running pgweir and prints its answer.
[[nodiscard]] int ask(const console_options& options, const std::string& command);

// A text as a literal of the console.
[[nodiscard]] std::string quote(const std::string& text);
[[nodiscard]] std::string quote_name(const std::string& name);

}  // namespace weir::proxy::cli
