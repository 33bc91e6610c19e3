#include "config/validate.hpp"

#include "config/address.hpp"
#include "config/names.hpp"
#include "config/scalar.hpp"
#include "config/suggest.hpp"
#include "config/units.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace weir::config {

namespace {

// A Unix socket's path holds 107 bytes on Linux.
constexpr std::size_t max_socket_path = 107;

std::string element(const std::string& list, std::size_t index) {
    return list + "[" + std::to_string(index + 1) + "]";
}

std::string position(place at) {
    return std::to_string(at.line) + ":" + std::to_string(at.column);
}

void check_tls(const std::string& path, const tls& t, bool serves, diagnostics& out) {
    const auto damaged = out.damaged(path);
    check_pem_file(path + ".certificate", t.certificate, out);
    check_pem_file(path + ".key", t.key, out);
    check_pem_file(path + ".ca", t.ca, out);
    if (damaged) {
        return;
    }
    const auto mode = path + ".mode " + std::string(to_string(t.mode));
    if (!t.certificate.empty() && t.key.empty()) {
        out.report(path, path + ".certificate is given alone; expected " + path + ".key with it");
    } else if (t.certificate.empty() && !t.key.empty()) {
        out.report(path, path + ".key is given alone; expected " + path + ".certificate with it");
    } else if (serves && t.mode != tls_mode::disable && t.certificate.empty()) {
        out.report(path, mode + " needs a certificate; expected certificate and key");
    }
    const auto verifies = t.mode == tls_mode::verify_ca || t.mode == tls_mode::verify_full;
    if (verifies && t.ca.empty()) {
        out.report(path, mode + " needs to know whom to trust; expected ca");
    }
}

void check_listen(const listen& l, diagnostics& out) {
    check_tls("listen.tls", l.tls, true, out);
    if (l.unix_socket.empty() || out.broken("listen.unix_socket")) {
        return;
    }
    std::error_code status_ec;
    const auto path = l.unix_socket + "/.s.PGSQL." + std::to_string(l.port);
    if (!std::filesystem::is_directory(l.unix_socket, status_ec)) {
        out.report(
            "listen.unix_socket",
            "listen.unix_socket: '" + l.unix_socket + "' is not there; expected a directory"
        );
    } else if (path.size() > max_socket_path) {
        out.report(
            "listen.unix_socket",
            "listen.unix_socket gives the socket '" + path + "'; expected at most " +
                std::to_string(max_socket_path) + " characters"
        );
    }
}

// Reports the second of two elements that bear one name.
class unique_names {
public:
    unique_names(std::string what, diagnostics& out) : what_(std::move(what)), out_(out) {}

    void add(const std::string& path, const std::string& name) {
        if (name.empty() || out_.broken(path)) {
            return;
        }
        const auto [first, fresh] = first_.emplace(name, out_.find(path));
        if (!fresh) {
            out_.report(
                path,
                path + ": the " + what_ + " '" + name + "' is used twice, first at " +
                    position(first->second) + "; expected a name of its own"
            );
        }
    }

private:
    std::string what_;
    diagnostics& out_;
    std::map<std::string, place> first_;
};

void check_ip(const std::string& path, const std::string& address, diagnostics& out) {
    if (!out.broken(path) && !is_ip_address(address)) {
        out.report(
            path,
            path + " is '" + address + "'; expected an IP address, such as 127.0.0.1 or ::"
        );
    }
}

void check_servers(const std::string& path, const cluster& one, diagnostics& out) {
    if (out.broken(path)) {
        return;
    }
    if (one.servers.empty()) {
        out.report(
            path,
            path + " is missing or empty; expected at least one server, such as {host: 127.0.0.1}"
        );
    }
    unique_names addresses("server", out);
    unique_names names("server name", out);
    for (std::size_t i = 0; i < one.servers.size(); ++i) {
        const auto& s = one.servers[i];
        const auto host = element(path, i) + ".host";
        const auto address = print_host_port(s.host, s.port);
        addresses.add(element(path, i), s.host.empty() ? std::string() : address);
        names.add(element(path, i) + ".name", s.name == address ? std::string() : s.name);
        if (!out.broken(host) && s.host.find_first_of("/ ,") != std::string::npos) {
            out.report(host, host + " is '" + s.host + "'; expected one host name or IP address");
        }
    }
}

void check_intervals(const std::string& path, const cluster& one, diagnostics& out) {
    const auto interval = path + ".monitor.interval";
    const auto least = 2 * one.monitor.interval;
    const auto max = path + ".lag.max";
    if (!out.broken(interval) && !out.broken(max) && one.lag.max < least) {
        out.report(
            max,
            max + " is " + print_duration(one.lag.max) + "; expected at least " +
                print_duration(least) + ", twice " + interval
        );
    }
}

void check_cluster(const cluster& one, diagnostics& out) {
    const auto path = "clusters." + one.name;
    if (out.broken(path)) {
        return;
    }
    check_servers(path + ".servers", one, out);
    check_tls(path + ".tls", one.tls, false, out);
    check_intervals(path, one, out);
    const auto min = path + ".pool.min";
    const auto size = path + ".pool.size";
    if (!out.broken(min) && !out.broken(size) && one.pool.min > one.pool.size) {
        out.report(
            min,
            min + " is " + std::to_string(one.pool.min) + "; expected at most " +
                std::to_string(one.pool.size) + ", the size of the pool"
        );
    }
}

void check_databases(const config& c, diagnostics& out) {
    std::vector<std::string> clusters;
    for (const auto& one : c.clusters) {
        clusters.push_back(one.name);
    }
    for (const auto& d : c.databases) {
        const auto path = "databases." + d.name + ".cluster";
        const auto known = std::find(clusters.begin(), clusters.end(), d.cluster) != clusters.end();
        if (!known && !clusters.empty() && !out.broken(path) && !out.broken("clusters")) {
            out.report(
                path,
                path + " names the unknown cluster '" + d.cluster + "'; expected " +
                    one_of(clusters) + suggestion(d.cluster, clusters)
            );
        }
    }
}

void check_presence(const config& c, diagnostics& out) {
    if (c.clusters.empty() && !out.broken("clusters")) {
        out.report(
            "clusters",
            "clusters is missing or empty; expected at least one cluster with servers"
        );
    }
    if (c.databases.empty() && !out.broken("databases")) {
        out.report(
            "databases",
            "databases is missing or empty; expected at least one, such as \"*\": {cluster: main} "
            "for all"
        );
    }
}

}  // namespace

void check_pem_file(const std::string& path, const std::string& file, diagnostics& out) {
    if (file.empty() || out.broken(path)) {
        return;
    }
    std::error_code status_ec;
    if (!std::filesystem::is_regular_file(file, status_ec)) {
        out.report(path, path + ": the file '" + file + "' does not exist; expected a PEM file");
    } else if (!std::ifstream(file)) {
        out.report(path, path + ": the file '" + file + "' cannot be read; expected a PEM file");
    }
}

void validate(const config& c, diagnostics& out) {
    check_presence(c, out);
    check_ip("listen.address", c.listen.address, out);
    check_ip("http.listen", c.http.address, out);
    check_listen(c.listen, out);
    for (const auto& one : c.clusters) {
        check_cluster(one, out);
    }
    check_databases(c, out);
    unique_names users("user", out);
    for (std::size_t i = 0; i < c.users.size(); ++i) {
        users.add(element("users", i) + ".name", c.users[i].name);
    }
    unique_names rules("rule name", out);
    for (std::size_t i = 0; i < c.routing.rules.size(); ++i) {
        rules.add(element("routing.rules", i) + ".name", c.routing.rules[i].name);
    }
    validate_access(c, out);
    validate_rules(c, out);
    validate_stores(c, out);
    validate_migrations(c, out);
}

}  // namespace weir::config
