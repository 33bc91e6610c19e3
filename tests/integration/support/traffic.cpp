#include "tests/integration/support/traffic.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace weir::integration {
namespace {

login console_login(const cluster& servers) {
    auto as = login_as(servers, "postgres");
    as.database = "pgweir";
    return as;
}

double number(const pq_result& rows, int row, const char* column) {
    const auto text = rows.at(row, column);
    return text.empty() ? 0 : std::stod(text);
}

std::string doubled_quotes(std::string_view text) {
    std::string made;
    for (const char c : text) {
        made += c;
        if (c == '\'') {
            made += c;
        }
    }
    return made;
}

}  // namespace

console::console(const proxy_process& proxy, const cluster& servers)
    : connection_(proxy.at(), console_login(servers)) {}

topology_view console::topology() {
    const auto rows = ask("SHOW TOPOLOGY");
    topology_view made;
    for (int row = 0; row < rows.rows(); ++row) {
        auto& server = made[rows.at(row, "server")];
        server.role = rows.at(row, "role");
        server.excluded = rows.at(row, "excluded");
        server.error = rows.at(row, "error");
        server.up = rows.at(row, "up") == "t";
        server.lag_ms = number(rows, row, "lag_ms");
        server.weight = number(rows, row, "weight");
        server.share = number(rows, row, "share") / 100;
        server.timeline = static_cast<unsigned>(number(rows, row, "timeline"));
        server.sample_age_ms = static_cast<long>(number(rows, row, "sample_age_ms"));
    }
    return made;
}

std::string console::route(std::string_view sql, std::string_view item) {
    const auto rows = ask("SHOW ROUTE '" + doubled_quotes(sql) + "'");
    for (int row = 0; row < rows.rows(); ++row) {
        if (rows.at(row, "item") == item) {
            return rows.at(row, "value");
        }
    }
    return {};
}

bool sample_counter::wait_for(
    std::size_t wanted,
    const std::function<bool(const server_view&)>& counts
) {
    std::size_t seen = 0;
    return wait_until([&] {
        const auto now = console_.topology().at(server_);
        const bool fresh = last_age_ >= 0 && now.sample_age_ms < last_age_;
        last_age_ = now.sample_age_ms;
        seen += fresh && counts(now) ? 1 : 0;
        return seen >= wanted;
    });
}

void make_items(const cluster& servers, const std::string& name, int rows) {
    pq_connection direct(servers.primary().at, login_as(servers));
    direct.query(
        "drop table if exists " + name + " cascade; create table " + name +
        " (id int primary key, v vector(3) not null, t text);"
        " insert into " +
        name +
        " select i, array[random(), random(), random()]::vector, 'x'"
        " from generate_series(1, " +
        std::to_string(rows) + ") i"
    );
    servers.catch_up();
}

std::string search(const std::string& table, const std::string& what) {
    return "select " + what + " from " + table + " order by v <-> '[0.1,0.2,0.3]' limit 1";
}

void wait_for_routing(
    const proxy_process& proxy,
    const cluster& servers,
    const std::string& table
) {
    console asked(proxy, servers);
    const bool known = wait_until([&] {
        const auto view = asked.topology();
        for (const auto& [name, server] : view) {
            if (server.role == "replica" && server.weight <= 0) {
                return false;
            }
        }
        return asked.route(search(table), "reason") == "vector";
    });
    REQUIRE_MESSAGE(known, proxy.log());
}

std::map<std::string, double> served(const proxy_process& proxy, const std::string& kind) {
    std::map<std::string, double> made;
    const auto page = http_get(proxy.http(), "/metrics").body;
    for (const char* const name : {"n1", "n2", "n3", "n4"}) {
        std::map<std::string, std::string> labels{{"server", name}};
        if (!kind.empty()) {
            labels["kind"] = kind;
        }
        made[name] = series_sum(page, "pgweir_queries_total", labels);
    }
    return made;
}

std::map<std::string, double> difference(
    const std::map<std::string, double>& before,
    const std::map<std::string, double>& after
) {
    std::map<std::string, double> made;
    for (const auto& [name, count] : after) {
        if (const double change = count - before.at(name); change != 0) {
            made[name] = change;
        }
    }
    return made;
}

double routed(const proxy_process& proxy, const std::string& target, const std::string& reason) {
    std::map<std::string, std::string> labels{{"target", target}};
    if (!reason.empty()) {
        labels["reason"] = reason;
    }
    return proxy.metric("pgweir_routed_total", labels);
}

trickle::trickle(const cluster& servers, std::string table)
    : thread_([this, to = servers.primary().at, as = login_as(servers), name = std::move(table)] {
          pq_connection direct(to, as);
          while (!stopped_) {
              direct.query("update " + name + " set t = 'y' where id = 1");
              std::this_thread::sleep_for(10ms);
          }
      }) {}

trickle::~trickle() {
    stopped_ = true;
    thread_.join();
}

disturbance::~disturbance() {
    try {
        undo();
    } catch (const std::exception& error) {
        MESSAGE("not taken back: ", error.what());
    }
}

void disturbance::delay(const std::string& node, const std::string& amount) {
    delayed_.push_back(node);
    servers_.tool("delay " + node + " " + amount);
}

void disturbance::pause(const std::string& node) {
    paused_.push_back(node);
    servers_.pause(node);
}

void disturbance::undo() {
    for (const auto& node : std::exchange(delayed_, {})) {
        servers_.tool("delay " + node + " 0");
    }
    for (const auto& node : std::exchange(paused_, {})) {
        servers_.resume(node);
    }
}

}  // namespace weir::integration
