#include "config/loader.hpp"
#include "proxy/cli/cli.hpp"
#include "proxy/cli/commands.hpp"
#include "proxy/logging.hpp"
#include "proxy/server.hpp"

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace weir::proxy::cli {

namespace {

std::shared_ptr<const config::config>
load(const std::string& file, std::vector<std::string>& errors) {
    auto loaded = config::load_file(file);
    for (const auto& each : loaded.errors) {
        errors.push_back(config::to_string(each));
    }
    if (!loaded) {
        return nullptr;
    }
    return std::make_shared<const config::config>(std::move(*loaded.value));
}

// "127.0.0.1:6432" or "[::1]:6432".
template <class Endpoint>
bool read_endpoint(std::string_view text, Endpoint& into) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) {
        return false;
    }
    auto address = text.substr(0, colon);
    if (address.starts_with('[') && address.ends_with(']')) {
        address = address.substr(1, address.size() - 2);
    }
    const auto* const end = text.data() + text.size();
    const auto [stop, ec] = std::from_chars(text.data() + colon + 1, end, into.port);
    into.address = address;
    return ec == std::errc() && stop == end && into.port != 0 && !address.empty();
}

// The monitor's user may also be used by clients, with its password; it may look at the console.
void add_user(config::config& to, const std::string& name, const std::string& password) {
    for (auto& each : to.clusters) {
        each.monitor.user = name;
        each.monitor.password = password;
    }
    to.console.stats = {name};
    if (password.empty()) {
        return;
    }
    to.users.push_back({.name = name, .secret = password});
    std::vector<config::auth_rule> rules;
    for (const auto& each : to.authentication.rules) {
        auto own = each;
        own.users = {name};
        own.method = config::auth_method::scram_sha_256;
        rules.push_back(std::move(own));
    }
    rules.insert(rules.end(), to.authentication.rules.begin(), to.authentication.rules.end());
    to.authentication.rules = std::move(rules);
}

made_config config_without_file(const serve_options& options) {
    made_config made;
    auto loaded = config::from_servers(options.servers);
    for (const auto& each : loaded.errors) {
        made.errors.push_back(config::to_string(each));
    }
    auto value = loaded ? std::move(*loaded.value) : config::config();
    if (options.user.empty()) {
        made.errors.emplace_back("--user: missing; the monitor logs in to the servers with it");
    }
    if (options.http == "off") {
        value.http.enabled = false;
    } else if (!options.http.empty() && !read_endpoint(options.http, value.http)) {
        made.errors.push_back(
            "--http: '" + options.http +
            "' is no address; expected address:port, such as 127.0.0.1:9632, or off"
        );
    }
    if (!options.listen.empty() && !read_endpoint(options.listen, value.listen)) {
        made.errors.push_back(
            "--listen: '" + options.listen +
            "' is no address; expected address:port, such as "
            "127.0.0.1:6432"
        );
    }
    std::string password;
    if (!options.password_variable.empty()) {
        const char* const found = std::getenv(options.password_variable.c_str());
        if (found == nullptr) {
            made.errors.push_back(
                "--password-env: the environment has no variable " + options.password_variable
            );
        } else {
            password = found;
        }
    }
    if (made.errors.empty()) {
        add_user(value, options.user, password);
        made.value = std::make_shared<const config::config>(std::move(value));
    }
    return made;
}

}  // namespace

made_config config_of(const serve_options& options) {
    if (options.servers.empty()) {
        made_config made;
        made.value = load(options.file, made.errors);
        return made;
    }
    if (!options.file.empty()) {
        return {.value = nullptr, .errors = {"give either a file or --server, not both"}};
    }
    return config_without_file(options);
}

int serve(const serve_options& options) {
    const auto made = config_of(options);
    if (!made.value) {
        for (const auto& each : made.errors) {
            std::fprintf(stderr, "%s\n", each.c_str());
        }
        return exit_configuration;
    }
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));  // a closed log must not end the service
    set_up_logging(made.value->log);
    const auto reread = [file = options.file](std::vector<std::string>& errors) {
        if (file.empty()) {
            errors.emplace_back(
                "started without a configuration file; there is nothing to read again"
            );
            return std::shared_ptr<const config::config>();
        }
        auto fresh = load(file, errors);
        if (fresh) {
            set_up_logging(fresh->log);
        }
        return fresh;
    };
    server running(made.value, reread);
    return running.run();
}

}  // namespace weir::proxy::cli
