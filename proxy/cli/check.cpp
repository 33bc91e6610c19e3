#include "config/diff.hpp"
#include "config/loader.hpp"
#include "config/reference.hpp"
#include "proxy/cli/cli.hpp"
#include "proxy/cli/commands.hpp"

#include <cstdio>

namespace weir::proxy::cli {

namespace {

std::optional<config::config> load(const std::string& file) {
    auto loaded = config::load_file(file);
    std::fputs(config::print_errors(loaded.errors).c_str(), stderr);
    return std::move(loaded.value);
}

std::string count(std::size_t number, const char* one, const char* many) {
    return std::to_string(number) + " " + (number == 1 ? one : many);
}

}  // namespace

int check(const std::string& file, bool connect) {
    const auto loaded = load(file);
    if (!loaded) {
        return exit_configuration;
    }
    std::size_t servers = 0;
    for (const auto& each : loaded->clusters) {
        servers += each.servers.size();
    }
    const auto summary = file + ": good: " + count(loaded->clusters.size(), "cluster", "clusters") +
                         ", " + count(servers, "server", "servers") + ", " +
                         count(loaded->databases.size(), "database", "databases") + ", " +
                         count(loaded->users.size(), "user", "users") + ", " +
                         count(loaded->routing.rules.size(), "routing rule", "routing rules");
    std::printf("%s\n", summary.c_str());
    return connect ? check_servers(*loaded) : 0;
}

int diff(const std::string& before, const std::string& after) {
    const auto old_config = load(before);
    const auto new_config = load(after);
    if (!old_config || !new_config) {
        return exit_configuration;
    }
    const auto found = config::differences(*old_config, *new_config);
    if (found.empty()) {
        std::puts("no difference");
    }
    for (const auto& each : found) {
        std::printf("%s\n", config::to_string(each).c_str());
    }
    return 0;
}

int print_reference(reference_kind what) {
    std::string text;
    switch (what) {
    case reference_kind::page: text = config::reference_page(); break;
    case reference_kind::json_schema: text = config::json_schema(); break;
    case reference_kind::example: text = config::example_file(); break;
    }
    return std::fputs(text.c_str(), stdout) < 0 ? exit_failure : 0;
}

}  // namespace weir::proxy::cli
