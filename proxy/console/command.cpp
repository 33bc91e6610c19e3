#include "proxy/console/command.hpp"

#include "proxy/console/commands.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::proxy::console {

namespace {

constexpr std::array commands{
    command{
        .words = "SHOW CLIENTS",
        .help = "one row for each client",
        .columns = clients_columns,
        .run = show_clients},
    command{
        .words = "SHOW SERVERS",
        .help = "one row for each connection to a server",
        .columns = servers_columns,
        .run = show_servers},
    command{
        .words = "SHOW POOLS",
        .help = "one row for each server, database and user",
        .columns = pools_columns,
        .run = show_pools},
    command{
        .words = "SHOW TOPOLOGY",
        .help = "the clusters' servers: role, lag, weight, share of the reads",
        .columns = topology_columns,
        .run = show_topology},
    command{
        .words = "SHOW ROUTE",
        .arguments = "'<sql>' [FOR <database> [<user>]]",
        .help = "where the statement would go and why; it is not run",
        .check = check_route,
        .columns = route_columns,
        .run = show_route},
    command{
        .words = "SHOW MIGRATIONS",
        .help = "one row for each migration: phase, progress, lag",
        .columns = migrations_columns,
        .run = show_migrations},
    command{
        .words = "SHOW CONFIG",
        .help = "the configuration in effect",
        .columns = config_columns,
        .run = show_config},
    command{
        .words = "SHOW VERSION",
        .help = "the version of pgweir",
        .columns = version_columns,
        .run = show_version},
    command{.words = "SHOW HELP", .help = "this list", .columns = help_columns, .run = show_help},
    command{
        .words = "RELOAD",
        .help = "reads the configuration again and applies it; answers with what changed",
        .needs_admin = true,
        .tag = "RELOAD",
        .columns = reload_columns,
        .run = reload},
    command{
        .words = "MIGRATE",
        .arguments =
            "START <migration> [DRY RUN] [FORCE] | PAUSE | RESUME | VERIFY | REPAIR | DEAD "
            "LETTERS <migration> [RETRY] | REMOVE <migration>",
        .help = "carries a migration on; see docs/migration.md",
        .needs_admin = true,
        .tag = "MIGRATE",
        .check = check_migrate,
        .columns = migrate_columns,
        .run = migrate},
    command{.words = "SET", .tag = "SET", .check = check_session_setting, .run = accept},
    command{.words = "RESET", .tag = "RESET", .check = accept_anything, .run = accept},
    command{.words = "DISCARD ALL", .tag = "DISCARD ALL", .run = accept},
    command{
        .words = "BEGIN",
        .tag = "BEGIN",
        .step = transaction_step::begin,
        .check = accept_anything,
        .run = accept},
    command{
        .words = "START TRANSACTION",
        .tag = "START TRANSACTION",
        .step = transaction_step::begin,
        .check = accept_anything,
        .run = accept},
    command{
        .words = "COMMIT",
        .tag = "COMMIT",
        .step = transaction_step::end,
        .check = accept_anything,
        .run = accept},
    command{
        .words = "END",
        .tag = "COMMIT",
        .step = transaction_step::end,
        .check = accept_anything,
        .run = accept},
    command{
        .words = "ROLLBACK",
        .tag = "ROLLBACK",
        .step = transaction_step::end,
        .check = accept_anything,
        .run = accept},
    command{
        .words = "ABORT",
        .tag = "ROLLBACK",
        .step = transaction_step::end,
        .check = accept_anything,
        .run = accept},
};

constexpr command parameter_command{
    .words = "SHOW",
    .check = accept_anything,
    .columns = parameter_columns,
    .run = show_parameter};

// Commands of PgBouncer, and of pgweir's own plans.
constexpr std::array<std::string_view, 11> later_verbs{
    "PAUSE",
    "RESUME",
    "RECONNECT",
    "DISABLE",
    "ENABLE",
    "KILL",
    "KILL_CLIENT",
    "SUSPEND",
    "SHUTDOWN",
    "WAIT_CLOSE",
    "PREFER"};
constexpr std::array<std::string_view, 26> later_shows{
    "STATS",     "STATS_TOTALS", "STATS_AVERAGES", "TOTALS",         "LISTS",  "MEM",
    "DATABASES", "USERS",        "SOCKETS",        "ACTIVE_SOCKETS", "FDS",    "DNS_HOSTS",
    "DNS_ZONES", "PEERS",        "PEER_POOLS",     "STATE",          "ROUTES", "RULES",
    "PINS",      "SHAPES",       "TENANTS",        "SHADOW",         "DEAD",   "HBA",
    "JOBS",      "CLUSTERS"};

template <std::size_t Size>
bool contains(const std::array<std::string_view, Size>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

// How many tokens of `words` the command's own words take; 0: it is another command.
std::size_t match(std::string_view command_words, const tokens& words) {
    std::size_t taken = 0;
    while (!command_words.empty()) {
        const auto word = command_words.substr(0, command_words.find(' '));
        if (taken == words.size() || !is_word(words[taken], word)) {
            return 0;
        }
        ++taken;
        command_words.remove_prefix(std::min(word.size() + 1, command_words.size()));
    }
    return taken;
}

protocol::diagnostic make_error(protocol::sqlstate code, std::string message) {
    protocol::diagnostic error;
    error.code = code;
    error.message = std::move(message);
    error.hint = "SHOW HELP lists the commands.";
    return error;
}

protocol::diagnostic unknown(const tokens& words) {
    const auto verb = words[0].kind == token_kind::word ? upper(words[0].text) : std::string();
    const auto noun = words.size() > 1 ? upper(words[1].text) : std::string();
    const bool shows = verb == "SHOW";
    if (shows ? contains(later_shows, noun) : contains(later_verbs, verb)) {
        const auto name = shows ? verb + " " + noun : verb;
        return make_error(
            protocol::sqlstates::feature_not_supported,
            name + " is not available in this version of the pgweir console"
        );
    }
    const auto name = shows && !noun.empty() ? words[0].text + " " + words[1].text : words[0].text;
    return syntax_error("unknown console command \"" + name + "\"");
}

resolved checked(const command& what, tokens arguments) {
    std::optional<protocol::diagnostic> error;
    if (what.check != nullptr) {
        error = what.check(arguments);
    } else if (!arguments.empty()) {
        error = syntax_error("syntax error at or near \"" + arguments.front().text + "\"");
    }
    if (error) {
        return {.value = {}, .error = std::move(error)};
    }
    return {.value = {.what = &what, .arguments = std::move(arguments)}, .error = {}};
}

}  // namespace

protocol::diagnostic syntax_error(std::string message) {
    return make_error(protocol::sqlstates::syntax_error, std::move(message));
}

std::span<const command> all_commands() {
    return commands;
}

resolved resolve(const tokens& words) {
    for (const command& each : commands) {
        if (const auto taken = match(each.words, words); taken != 0) {
            return checked(each, {words.begin() + static_cast<std::ptrdiff_t>(taken), words.end()});
        }
    }
    if (is_word(words.front(), "SHOW")) {
        const tokens arguments(words.begin() + 1, words.end());
        if (is_session_parameter(arguments)) {
            return checked(parameter_command, arguments);
        }
    }
    return {.value = {}, .error = unknown(words)};
}

}  // namespace weir::proxy::console
