// `pgweir check --connect`: does the monitor get everything it needs from every server?
#include "proxy/cli/cli.hpp"
#include "proxy/cli/commands.hpp"
#include "proxy/cli/table.hpp"
#include "proxy/sql_connection.hpp"
#include "routing/position.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

namespace weir::proxy::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto limit = 10s;  // for everything that is asked of one server

// The subqueries keep apart what fails on the wrong kind of server.
constexpr std::string_view question =
    "SELECT r.standby, current_setting('server_version'),"
    " CASE WHEN r.standby THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END,"
    " CASE WHEN NOT r.standby THEN NULL"
    " WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0"
    " ELSE round(extract(epoch FROM now() - pg_last_xact_replay_timestamp()), 1) END,"
    " pg_has_role(current_user, 'pg_monitor', 'USAGE'),"
    " (SELECT rolsuper OR rolreplication FROM pg_roles WHERE rolname = current_user)"
    " FROM (SELECT pg_is_in_recovery() AS standby OFFSET 0) r";

constexpr std::string_view extensions_question =
    "SELECT coalesce(string_agg(extname || ' ' || extversion, ', ' ORDER BY extname), 'none')"
    " FROM pg_extension WHERE extname <> 'plpgsql'";

struct facts {
    const config::cluster* cluster = nullptr;
    const config::server* server = nullptr;
    std::vector<std::string> databases;  // on the server
    std::string error;
    bool standby = false;
    std::string version;
    routing::lsn at{};
    std::string lag_seconds;
    std::string extensions;
    std::string system;
    std::vector<std::string> missing;
};

sql_target target_of(const facts& which, sql_mode mode, const std::string& database) {
    const auto& monitor = which.cluster->monitor;
    return {
        .host = which.server->host,
        .port = which.server->port,
        .tls = which.cluster->tls,
        .user = monitor.user,
        .password = monitor.password,
        .database = database,
        .application_name = "pgweir check",
        .mode = mode};
}

void read(facts& into, const sql_rows& rows) {
    into.standby = rows.at(0, 0) == "t";
    into.version = rows.at(0, 1);
    into.at = routing::parse_lsn(rows.at(0, 2)).value_or(routing::lsn{});
    into.lag_seconds = rows.at(0, 3);
    if (rows.at(0, 4) != "t") {
        into.missing.push_back("GRANT pg_monitor TO " + quote_name(into.cluster->monitor.user));
    }
    if (rows.at(0, 5) != "t") {
        into.missing.push_back(
            "ALTER ROLE " + quote_name(into.cluster->monitor.user) + " REPLICATION"
        );
    }
}

// A right that the role has is of no use if pg_hba.conf lets no replication connection in.
asio::awaitable<void> try_replication(asio::io_context& io, facts& into, sql_deadline deadline) {
    sql_connection sql(io);
    auto target = target_of(into, sql_mode::replication, into.cluster->monitor.database);
    const auto connect_error = co_await sql.connect(std::move(target), deadline);
    if (!connect_error.empty()) {
        into.missing.push_back("a replication connection: " + connect_error);
        co_return;
    }
    std::string identify = "IDENTIFY_SYSTEM";
    const auto found = co_await sql.query(std::move(identify), deadline);
    if (!found.ok() || found.rows.size() != 1) {
        into.missing.push_back("IDENTIFY_SYSTEM: " + found.error);
        co_return;
    }
    into.system = found.rows.at(0, 0);
}

asio::awaitable<void>
list_extensions(asio::io_context& io, facts& into, std::string database, sql_deadline deadline) {
    sql_connection sql(io);
    auto target = target_of(into, sql_mode::ordinary, database);
    const auto connect_error = co_await sql.connect(std::move(target), deadline);
    if (!connect_error.empty()) {
        into.missing.push_back("database " + database + ": " + connect_error);
        co_return;
    }
    std::string text(extensions_question);
    const auto found = co_await sql.query(std::move(text), deadline);
    if (found.ok() && found.rows.size() == 1) {
        into.extensions += into.extensions.empty() ? "" : "; ";
        into.extensions.append(database).append(": ").append(found.rows.at(0, 0));
    }
}

asio::awaitable<void> ask_server(asio::io_context& io, facts& into) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    sql_connection sql(io);
    auto target = target_of(into, sql_mode::ordinary, into.cluster->monitor.database);
    into.error = co_await sql.connect(std::move(target), deadline);
    if (!into.error.empty()) {
        co_return;
    }
    std::string text(question);
    const auto found = co_await sql.query(std::move(text), deadline);
    if (!found.ok() || found.rows.size() != 1) {
        into.error = found.error;
        co_return;
    }
    read(into, found.rows);
    const bool may_replicate = found.rows.at(0, 5) == "t";
    if (may_replicate) {
        co_await try_replication(io, into, deadline);
    }
    for (const auto& database : into.databases) {
        co_await list_extensions(io, into, database, deadline);
    }
}

std::string lag_of(const facts& which, const std::vector<facts>& all) {
    if (!which.standby) {
        return {};
    }
    std::string text = which.lag_seconds.empty() ? "unknown" : which.lag_seconds + " s";
    for (const auto& each : all) {
        if (each.cluster == which.cluster && !each.standby && each.error.empty()) {
            // Asked at the same time, so a busy primary is ahead by what it wrote in between.
            const auto behind = each.at > which.at ? each.at.value - which.at.value : 0;
            text += ", " + std::to_string(behind) + " bytes";
        }
    }
    return text;
}

table table_of(const std::vector<facts>& all) {
    table made;
    for (const char* name :
         {"cluster", "server", "role", "version", "extensions", "lag", "problem"}) {
        made.columns.push_back({.name = name});
    }
    for (const auto& each : all) {
        const std::string role = each.standby ? "replica" : "primary";
        const bool known = each.error.empty();
        made.rows.push_back(
            {each.cluster->name,
             each.server->name,
             known ? role : "unknown",
             each.version,
             each.extensions,
             lag_of(each, all),
             known ? (each.missing.empty() ? "" : "see below") : each.error}
        );
    }
    return made;
}

// What concerns a cluster as a whole.
void judge_cluster(
    const config::cluster& cluster,
    const std::vector<facts>& all,
    std::vector<std::string>& problems
) {
    std::size_t primaries = 0;
    std::size_t reached = 0;
    std::string system;
    for (const auto& each : all) {
        if (each.cluster != &cluster || !each.error.empty()) {
            continue;
        }
        ++reached;
        primaries += each.standby ? 0 : 1;
        if (!each.system.empty() && !system.empty() && each.system != system) {
            problems.push_back(
                cluster.name + ": " + each.server->name +
                " belongs to another system (its system identifier differs)"
            );
        }
        system = system.empty() ? each.system : system;
    }
    if (reached != 0 && primaries != 1) {
        problems.push_back(
            cluster.name + ": " + std::to_string(primaries) +
            " of its servers are primary, expected 1"
        );
    }
}

// Of the databases that lead to the cluster, without "*"; the monitor's if there is no other.
std::vector<std::string> databases_of(const config::config& from, const config::cluster& cluster) {
    std::vector<std::string> found;
    for (const auto& each : from.databases) {
        const auto& name = each.server_database.empty() ? each.name : each.server_database;
        if (each.cluster == cluster.name && name != "*" &&
            std::find(found.begin(), found.end(), name) == found.end()) {
            found.push_back(name);
        }
    }
    if (found.empty()) {
        found.push_back(cluster.monitor.database);
    }
    return found;
}

}  // namespace

int check_servers(const config::config& from) {
    std::vector<facts> all;
    for (const auto& cluster : from.clusters) {
        for (const auto& server : cluster.servers) {
            facts made;
            made.cluster = &cluster;
            made.server = &server;
            made.databases = databases_of(from, cluster);
            all.push_back(std::move(made));
        }
    }
    asio::io_context io(1);
    for (auto& each : all) {
        asio::co_spawn(io, ask_server(io, each), [](const std::exception_ptr& error) {
            if (error) {
                std::rethrow_exception(error);
            }
        });
    }
    io.run();
    std::fputs(to_text(table_of(all)).c_str(), stdout);
    std::vector<std::string> problems;
    for (const auto& each : all) {
        for (const auto& right : each.missing) {
            problems.push_back(
                each.cluster->name + ", " + each.server->name + ": missing: " + right
            );
        }
    }
    for (const auto& cluster : from.clusters) {
        judge_cluster(cluster, all, problems);
    }
    for (const auto& each : problems) {
        std::printf("%s\n", each.c_str());
    }
    const bool reached =
        std::all_of(all.begin(), all.end(), [](const facts& each) { return each.error.empty(); });
    return reached && problems.empty() ? 0 : exit_failure;
}

}  // namespace weir::proxy::cli
