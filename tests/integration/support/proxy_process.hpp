// The program under test as a process: its configuration from pieces, ports of its own, its log and
// its exit code, and what it tells of itself by HTTP and by its console.
//
//     proxy_options options;
//     options.pool = "{size: 1}";
//     proxy_process proxy(cluster::shared(), options);
//     pq_connection client(proxy.at(), login_as(cluster::shared()));
#pragma once

#include "tests/integration/support/cluster.hpp"
#include "tests/integration/support/libpq.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weir::integration {

// YAML in flow form where it says so. Every default lets all users of the cluster log in and route
// to all its nodes.
struct proxy_options {
    unsigned workers = 1;
    std::string pool = "{size: 20}";  // flow, of the cluster
    std::string lag = "{slow_start: 0s}";
    // Further lines of the cluster and of the whole file, as "failover: {wait: 1s}".
    std::vector<std::string> cluster_lines;
    std::vector<std::string> lines;
    std::string listen;  // further keys of `listen`, as "max_clients: 5"
    // Block or flow, what stands under `databases`; empty: every name leads to the cluster.
    std::string databases;
    // Where to connect instead of the nodes' own ports, by node name: for a relay in between.
    std::map<std::string, std::uint16_t> relays;
    // Names of the nodes to use; empty: all.
    std::vector<std::string> nodes;
    bool primary_only = false;  // short for `nodes` with the first one
};

// The configuration file's text.
[[nodiscard]] std::string configuration(
    const cluster& servers,
    const proxy_options& options,
    std::uint16_t port,
    std::uint16_t http_port
);

class proxy_process {
public:
    // Starts it and waits until /readyz says so. Throws std::runtime_error with the log otherwise.
    explicit proxy_process(const cluster& servers, const proxy_options& options = {});
    // Ends it; a failed check when its exit code is not 0 or when it had died before.
    ~proxy_process();

    proxy_process(const proxy_process&) = delete;
    proxy_process& operator=(const proxy_process&) = delete;

    [[nodiscard]] const endpoint& at() const noexcept { return at_; }

    [[nodiscard]] const endpoint& http() const noexcept { return http_; }

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    // Writes the configuration anew, on the same ports, and sends SIGHUP.
    void reload(const proxy_options& options);
    void send_signal(int number) const;
    // SIGTERM, and its exit code; 128 + signal when a signal ended it. Once ended it stays so.
    int stop(milliseconds limit = patience);
    // Has it ended by itself?
    [[nodiscard]] bool ended();

    [[nodiscard]] std::string log() const;

    [[nodiscard]] const std::string& configuration_file() const noexcept { return file_; }

    // Sum of the values of the series with this name and these labels; 0 when there is none.
    [[nodiscard]] double
    metric(std::string_view name, const std::map<std::string, std::string>& labels = {}) const;
    // A command of the console, as the user postgres.
    [[nodiscard]] pq_result console(const std::string& command) const;

    // Resident memory now, in bytes, and the most it ever was.
    [[nodiscard]] std::size_t resident_bytes() const { return status_bytes("VmRSS:"); }

    [[nodiscard]] std::size_t peak_bytes() const { return status_bytes("VmHWM:"); }

    // Forgets the peak so far.
    void reset_peak() const;
    // No client has a server, no client waits and no server is in use.
    [[nodiscard]] bool idle() const;

private:
    void write_configuration(const proxy_options& options) const;
    void launch();
    bool reap(bool wait);
    [[nodiscard]] std::size_t status_bytes(std::string_view key) const;

    const cluster& servers_;
    endpoint at_;
    endpoint http_;
    std::string folder_;
    std::string file_;
    pid_t pid_ = -1;
    bool stopped_ = false;
    int exit_code_ = 0;
    bool asked_ = false;  // somebody has asked for the end
};

// Sum of the series of a /metrics page, as proxy_process::metric.
[[nodiscard]] double series_sum(
    std::string_view page,
    std::string_view name,
    const std::map<std::string, std::string>& labels
);

}  // namespace weir::integration
