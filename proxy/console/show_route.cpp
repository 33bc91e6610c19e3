// Where a statement would go and why. It is classified and routed as a session would do it, and not
// run; nothing is counted.
#include "proxy/console/commands.hpp"
#include "proxy/worker.hpp"
#include "routing/explain.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace weir::proxy::console {

namespace {

using namespace std::chrono_literals;

// The catalog is read when it is first asked for.
constexpr auto catalog_limit = 2s;
constexpr auto catalog_poll = 20ms;

bool is_name(const token& what) {
    return what.kind == token_kind::word || what.kind == token_kind::quoted;
}

struct session_names {
    std::string database;
    std::string user;
};

// The first database that has a name, or the one that the monitor uses.
std::string default_database(const config::config& from) {
    for (const auto& each : from.databases) {
        if (each.name != "*") {
            return each.name;
        }
    }
    return from.clusters.empty() ? std::string() : from.clusters.front().monitor.database;
}

session_names names_of(const request& what) {
    const auto& arguments = what.arguments;  // '<sql>' FOR database user
    session_names made{.database = default_database(*what.home.config), .user = what.user};
    if (arguments.size() > 2) {
        made.database = arguments[2].text;
    }
    if (arguments.size() > 3) {
        made.user = arguments[3].text;
    }
    return made;
}

answer no_database(const std::string& name) {
    protocol::diagnostic why;
    why.code = protocol::sqlstates::invalid_catalog_name;
    why.message = "no such database is configured: \"" + name + "\"";
    why.hint = "SHOW ROUTE '<sql>' FOR <database> takes one of the configuration's databases.";
    return failed(std::move(why));
}

asio::awaitable<routing::catalog_ptr>
catalog_of(worker& home, std::string cluster, std::string database) {
    asio::steady_timer pause(home.io);
    const auto give_up = worker::now() + catalog_limit;
    for (;;) {
        const auto view = home.clusters.find(cluster);
        if (view == home.clusters.end()) {
            co_return nullptr;
        }
        const auto& known = home.catalog_of(*view->second, database).catalog;
        if (known || worker::now() >= give_up) {
            co_return known;
        }
        pause.expires_after(catalog_poll);
        const auto [wait_ec] = co_await pause.async_wait(use_tuple);
        static_cast<void>(wait_ec);
    }
}

routing::explanation explain(
    worker& home,
    const cluster_view& cluster,
    const session_names& session,
    const std::string& sql,
    const routing::catalog_ptr& catalog
) {
    const auto known = home.classifier.classify(sql, true);
    const auto judged = routing::judge(*known.traits, catalog.get(), *home.safe_functions);
    const routing::route_request asked{
        .statement = *known.traits,
        .key = known.shape,
        .judged = judged.reason,
        .session = {.database = session.database, .user = session.user},
        .rules = *home.rules,
        .cluster = *cluster.topology,
        .loads = cluster.loads,
        .now = worker::now(),
        .random = home.random,
    };
    return routing::explain(asked, judged);
}

}  // namespace

std::optional<protocol::diagnostic> check_route(const tokens& arguments) {
    if (arguments.empty() || arguments[0].kind != token_kind::string) {
        return syntax_error("SHOW ROUTE needs the statement in quotes: SHOW ROUTE 'SELECT …'");
    }
    const bool plain = arguments.size() == 1;
    const bool with_names = arguments.size() >= 3 && arguments.size() <= 4 &&
                            is_word(arguments[1], "FOR") && is_name(arguments[2]) &&
                            is_name(arguments.back());
    if (plain || with_names) {
        return std::nullopt;
    }
    return syntax_error("SHOW ROUTE '<sql>' may be followed by FOR <database> [<user>] only");
}

fields route_columns(const tokens& arguments) {
    static_cast<void>(arguments);
    return {{"item"}, {"value"}};
}

asio::awaitable<answer> show_route(const request& what) {
    auto& home = what.home;
    const auto session = names_of(what);
    const auto before = home.find_database(session.database);
    if (before.cluster == nullptr) {
        co_return no_database(session.database);
    }
    const auto catalog =
        co_await catalog_of(home, before.cluster->config->name, before.server_database);
    const auto found = home.find_database(session.database);  // a reload may have come
    if (found.cluster == nullptr) {
        co_return no_database(session.database);
    }
    const auto explained =
        explain(home, *found.cluster, session, what.arguments.front().text, catalog);
    answer made;
    made.rows.push_back({"cluster", found.cluster->config->name});
    made.rows.push_back({"database", session.database});
    made.rows.push_back({"user", session.user});
    for (auto& each : routing::to_rows(explained)) {
        made.rows.push_back({std::move(each.item), std::move(each.value)});
    }
    co_return made;
}

}  // namespace weir::proxy::console
