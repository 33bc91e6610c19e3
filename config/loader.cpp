#include "config/loader.hpp"

#include "config/diagnostics.hpp"
#include "config/document.hpp"
#include "config/reader.hpp"
#include "config/scalar.hpp"
#include "config/validate.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace weir::config {

namespace {

constexpr std::size_t max_file_bytes = 16UL << 20;

load_result failed(const std::string& file_name, std::string text) {
    load_result result;
    result.errors.push_back({.file = file_name, .at = {}, .text = std::move(text)});
    return result;
}

// Names that follow from other values when none is written.
void complete(config& c) {
    for (auto& one : c.clusters) {
        for (auto& s : one.servers) {
            if (s.name.empty()) {
                s.name = print_host_port(s.host, s.port);
            }
        }
    }
    for (auto& one : c.migrations) {
        if (one.name_pattern.empty()) {
            one.name_pattern = one.name;
        }
    }
}

load_result finish(config loaded, diagnostics& found, const std::string& file_name) {
    complete(loaded);
    validate(loaded, found);
    load_result result;
    result.errors = found.take(file_name);
    if (result.errors.empty()) {
        result.value = std::move(loaded);
    }
    return result;
}

auth_rule trust_from(const std::string& address) {
    return {
        .databases = {"all"},
        .users = {"all"},
        .address = address,
        .method = auth_method::trust};
}

// "host", "host:port" or "[address]:port".
std::optional<server> parse_server(const std::string& text) {
    server one;
    if (const auto both = parse_host_port(text)) {
        one.host = both->host;
        one.port = both->port;
        return one;
    }
    if (text.empty() || text.find_first_of(":[]/ ") != std::string::npos) {
        return std::nullopt;
    }
    one.host = text;
    return one;
}

}  // namespace

load_result
load(std::string_view yaml, const std::string& file_name, const environment& variables) {
    auto document = parse_document(yaml, file_name);
    if (!document.errors.empty()) {
        load_result result;
        result.errors = std::move(document.errors);
        return result;
    }
    diagnostics found;
    config loaded;
    if (document.root.kind == node_kind::map || document.root.kind == node_kind::null) {
        reader walk(variables, std::filesystem::path(file_name).parent_path(), found);
        walk.read_block(schema(), document.root, &loaded, {});
        return finish(std::move(loaded), found, file_name);
    }
    const auto kind = std::string(to_string(document.root.kind));
    found.report(
        {},
        document.root.at,
        "the file holds " + kind + "; expected a mapping of keys such as listen and clusters"
    );
    load_result result;
    result.errors = found.take(file_name);
    return result;
}

load_result load_file(const std::string& path) {
    return load_file(path, process_environment());
}

load_result load_file(const std::string& path, const environment& variables) {
    std::error_code status_ec;
    if (std::filesystem::is_directory(path, status_ec)) {
        return failed(path, "is a directory; expected a YAML file");
    }
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        return failed(path, std::string("cannot be read: ") + std::strerror(errno));
    }
    std::string text(max_file_bytes + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (text.size() > max_file_bytes) {
        return failed(path, "is larger than 16MiB; expected a YAML file");
    }
    return load(text, path, variables);
}

load_result from_servers(const std::vector<std::string>& host_ports) {
    load_result result;
    cluster main;
    main.name = "main";
    for (const auto& text : host_ports) {
        if (auto one = parse_server(text)) {
            main.servers.push_back(std::move(*one));
        } else {
            result.errors.push_back(
                {.file = "--server",
                 .at = {},
                 .text = "'" + text + "' is no server; expected host:port, such as 127.0.0.1:5432"}
            );
        }
    }
    if (host_ports.empty()) {
        result.errors.push_back(
            {.file = "--server", .at = {}, .text = "no server is given; expected host:port"}
        );
    }
    if (!result.errors.empty()) {
        return result;
    }
    config made;
    made.clusters.push_back(std::move(main));
    made.databases.push_back({.name = "*", .cluster = "main", .server_database = {}});
    made.authentication.rules = {
        trust_from("127.0.0.0/8"),
        trust_from("::1/128"),
        trust_from("local")};
    complete(made);
    result.value = std::move(made);
    return result;
}

std::string print_errors(const std::vector<error>& errors) {
    std::string text;
    for (const auto& e : errors) {
        text.append(to_string(e)).append("\n");
    }
    return text;
}

}  // namespace weir::config
