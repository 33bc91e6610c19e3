// A table to search and what a proxy says about who served it: for the tests of routing.
#pragma once

#include "tests/integration/support/proxy_process.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace weir::integration {

// The row of SHOW TOPOLOGY.
struct server_view {
    std::string role;
    std::string excluded;  // "" when it is not
    std::string error;
    bool up = false;
    double lag_ms = 0;
    double weight = 0;
    double share = 0;  // 0 to 1
    unsigned timeline = 0;
    long sample_age_ms = 0;
};

using topology_view = std::map<std::string, server_view>;  // by server name

// A console that stays open: for asking often.
class console {
public:
    console(const proxy_process& proxy, const cluster& servers);

    pq_result ask(const std::string& command) { return connection_.query(command); }

    topology_view topology();
    // Value of that item of SHOW ROUTE.
    std::string route(std::string_view sql, std::string_view item);

private:
    pq_connection connection_;
};

// Counts the monitor's new samples of one server, as SHOW TOPOLOGY shows them.
class sample_counter {
public:
    sample_counter(console& at, std::string server) : console_(at), server_(std::move(server)) {}

    // Waits for so many new samples for which `counts` holds. False: they did not come in time.
    bool wait_for(
        std::size_t wanted,
        const std::function<bool(const server_view&)>& counts =
            [](const server_view&) { return true; }
    );

private:
    console& console_;
    std::string server_;
    long last_age_ = -1;
};

// A table `name` (id int primary key, v vector(3), t text) with that many rows on every server.
void make_items(const cluster& servers, const std::string& name, int rows = 1000);
// The nearest row of the table to a point, as a select of this expression.
[[nodiscard]] std::string search(const std::string& table, const std::string& what = "id");
// Searches of this table go to replicas: the proxy has its catalog and replicas to use.
void wait_for_routing(const proxy_process& proxy, const cluster& servers, const std::string& table);

// Queries answered of one kind, or of all kinds, by server name.
[[nodiscard]] std::map<std::string, double>
served(const proxy_process& proxy, const std::string& kind = "vector");
// After minus before, servers without a change left out.
[[nodiscard]] std::map<std::string, double>
difference(const std::map<std::string, double>& before, const std::map<std::string, double>& after);
// Decisions of the router.
[[nodiscard]] double
routed(const proxy_process& proxy, const std::string& target, const std::string& reason = "");

// The primary writes a little every few milliseconds while this lives.
class trickle {
public:
    trickle(const cluster& servers, std::string table);
    ~trickle();
    trickle(const trickle&) = delete;
    trickle& operator=(const trickle&) = delete;

private:
    std::atomic<bool> stopped_{false};
    std::thread thread_;
};

// Delays of replicas (recovery_min_apply_delay), paused replay: taken back at the end of the scope.
class disturbance {
public:
    explicit disturbance(const cluster& servers) : servers_(servers) {}

    ~disturbance();
    disturbance(const disturbance&) = delete;
    disturbance& operator=(const disturbance&) = delete;

    void delay(const std::string& node, const std::string& amount);
    void pause(const std::string& node);
    void undo();

private:
    const cluster& servers_;
    std::vector<std::string> delayed_;
    std::vector<std::string> paused_;
};

}  // namespace weir::integration
