// The servers a test works with: the cluster ctest has started (PGWEIR_TEST_CLUSTER), or one of the
// test's own when it breaks servers. All work on it is done by the tool in tests/cluster.
#pragma once

#include "tests/integration/support/file_descriptor.hpp"

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weir::integration {

struct server_node {
    std::string name;
    endpoint at;
    std::string data;      // folder
    std::string pid_file;  // first line: the postmaster's pid
    std::string log;       // file
    std::string role;      // "primary" or "replica", as it was at the start
};

// Files of the test certificate authority; empty when the cluster has no TLS.
struct certificate_files {
    std::string ca;
    std::string certificate;
    std::string key;
    std::string wrong_ca;
};

class cluster {
public:
    // The cluster of this run. It is shared: leave it as it was.
    [[nodiscard]] static cluster& shared();
    // A cluster of one's own, destroyed with the object, and also when the test is killed.
    // `options` are those of `cluster.py start`, as `--replicas 1 --tls`.
    [[nodiscard]] static cluster start_own(std::string_view name, std::string_view options);

    // Runs the tool's command on this cluster and returns what it printed. Throws
    // std::runtime_error with that text when it fails.
    std::string tool(std::string_view command) const;  // NOLINT(modernize-use-nodiscard)

    void pause(std::string_view node) const { tool("pause " + std::string(node)); }

    void resume(std::string_view node) const { tool("resume " + std::string(node)); }

    // Waits until every replica has replayed what the primary has written.
    void catch_up() const { tool("catch-up"); }

    [[nodiscard]] const std::string& database() const noexcept { return database_; }

    // Throws std::out_of_range for a user the cluster does not have.
    [[nodiscard]] const std::string& password(const std::string& user) const {
        return users_.at(user);
    }

    // Names and passwords.
    [[nodiscard]] const std::map<std::string, std::string>& users() const noexcept {
        return users_;
    }

    [[nodiscard]] const std::vector<server_node>& nodes() const noexcept { return nodes_; }

    [[nodiscard]] const server_node& node(std::string_view name) const;

    // The node that was the primary at the start.
    [[nodiscard]] const server_node& primary() const { return nodes_.front(); }

    [[nodiscard]] const certificate_files& certificates() const noexcept { return certificates_; }

private:
    struct keeper_close {
        void operator()(std::FILE* pipe) const noexcept { pclose(pipe); }
    };

    explicit cluster(std::string note);

    std::string note_;  // the file cluster.json or a copy of it
    std::string database_;
    std::map<std::string, std::string> users_;
    std::vector<server_node> nodes_;
    certificate_files certificates_;
    // A shell that destroys the cluster when its input ends, as it does when this process dies.
    std::unique_ptr<std::FILE, keeper_close> keeper_;
};

// Output of a shell command; throws std::runtime_error with it when the command fails.
std::string run_command(const std::string& command);

}  // namespace weir::integration
