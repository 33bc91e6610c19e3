#include "tests/integration/state_tools.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace weir::integration {

proxy_options one_server(std::string pool, unsigned workers) {
    proxy_options options;
    options.pool = std::move(pool);
    options.workers = workers;
    options.primary_only = true;
    return options;
}

std::string shown(pq_connection& by, const std::string& name) {
    const auto answer = by.try_query("SHOW " + name);
    return answer.ok() ? answer.at(0, 0) : answer.code();
}

std::string code_of(pq_connection& by, const std::string& sql) {
    return by.try_query(sql).code();
}

std::string identity(pq_connection& by) {
    return by.value("select current_user || ' ' || session_user");
}

void start(pq_connection& by, const std::string& sql) {
    if (PQsendQuery(by.get(), sql.c_str()) != 1) {
        throw std::runtime_error(sql + ": " + by.error());
    }
}

pq_result receive(pq_connection& by) {
    std::optional<pq_result> last;
    while (PGresult* const next = PQgetResult(by.get())) {
        pq_result made(next);
        if (!last || last->ok()) {
            last = std::move(made);
        }
    }
    if (!last) {
        throw std::runtime_error("no result: " + by.error());
    }
    return std::move(*last);
}

void cancel(pq_connection& of) {
    PGcancel* const handle = PQgetCancel(of.get());
    char why[256] = "";
    const int sent = PQcancel(handle, why, sizeof why);
    PQfreeCancel(handle);
    if (sent != 1) {
        throw std::runtime_error(why);
    }
}

void vanish(pq_connection& client) {
    const int socket = PQsocket(client.get());
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    // The number stays taken, so that libpq can end without closing somebody else's file.
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, socket);
    close(nothing);
}

void come_and_go(
    const proxy_process& proxy,
    const login& as,
    const std::vector<std::string>& texts,
    bool vanishes
) {
    pq_connection client(proxy.at(), as);
    for (const auto& text : texts) {
        static_cast<void>(client.try_query(text));
    }
    if (vanishes) {
        vanish(client);
    }
}

pq_connection superuser(const cluster& servers, const std::string& node) {
    return {servers.node(node).at, login_as(servers, "postgres")};
}

void prepare(const cluster& servers, const std::vector<std::string>& statements) {
    auto direct = superuser(servers);
    for (const auto& each : statements) {
        direct.query(each);
    }
}

int sessions_on_server(const cluster& servers, const std::string& node) {
    auto direct = superuser(servers, node);
    return std::stoi(direct.value("select count(*) from pg_stat_activity where usename = 'app'"));
}

bool all_sessions_idle(const cluster& servers) {
    auto direct = superuser(servers);
    return wait_until([&] {
        return direct.value(
                   "select count(*) from pg_stat_activity where usename = 'app' and state <> 'idle'"
               ) == "0";
    });
}

int waiting_clients(const proxy_process& proxy) {
    const auto pools = proxy.console("SHOW POOLS");
    int sum = 0;
    for (int row = 0; row < pools.rows(); ++row) {
        sum += std::stoi(pools.at(row, "cl_waiting"));
    }
    return sum;
}

int pinned_clients(const proxy_process& proxy, const std::string& reason) {
    const auto clients = proxy.console("SHOW CLIENTS");
    int count = 0;
    for (int row = 0; row < clients.rows(); ++row) {
        count += clients.at(row, "pinned") == reason ? 1 : 0;
    }
    return count;
}

pool_holder::pool_holder(const proxy_process& proxy, const login& as, std::size_t size) {
    std::set<std::string> pids;
    for (std::size_t i = 0; i < size; ++i) {
        auto& added = holders_.emplace_back(proxy.at(), as);
        added.query("begin");
        pids.insert(added.value("select pg_backend_pid()"));
    }
    REQUIRE(pids.size() == size);
}

void pool_holder::each(const std::function<void()>& with_one_free) {
    for (auto& each : holders_) {
        each.query("commit");
        with_one_free();
        each.query("begin");
        each.query("select 1");
    }
}

}  // namespace weir::integration
