#include "proxy/cli/cli.hpp"

#include "proxy/cli/commands.hpp"

#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace weir::proxy::cli {

namespace {

constexpr const char* examples = R"(
Examples:
  pgweir pgweir.yaml                       run with a configuration
  MONITOR_PASSWORD=… pgweir --server 10.0.0.1:5432 --server 10.0.0.2:5432 \
      --user pgweir --password-env MONITOR_PASSWORD
                                           run without one, on defaults
  pgweir check pgweir.yaml --connect       is the file right, are the servers?
  pgweir diff pgweir.yaml new.yaml         what a reload would change
  pgweir show topology                     ask a running pgweir
  pgweir migrate start groups --dry-run    is everything there for this migration?
  pgweir route "SELECT * FROM items ORDER BY embedding <-> '[1,2]' LIMIT 5"

Exit codes: 0, 1 failed at run time, 2 the configuration or the command line is wrong.)";

constexpr const char* console_note =
    "\nThe password is taken from PGPASSWORD or ~/.pgpass. The user must stand in console.admin "
    "or\n"
    "console.stats of the configuration (reload: in console.admin).";

struct options {
    serve_options serve;
    std::string file;
    std::string other_file;
    bool connect = false;
    console_options console;
    std::vector<std::string> words;
    std::string sql;
    std::string database;
    std::string as_user;
    std::string migration;
    bool dry_run = false;
    bool force = false;
    bool retry = false;
    bool json_schema = false;
    bool example = false;
    std::function<int()> chosen;
};

std::string default_user() {
    if (const char* const given = std::getenv("PGUSER")) {
        return given;
    }
    const passwd* const account = getpwuid(getuid());
    return account == nullptr ? "" : account->pw_name;
}

void add_serve_options(CLI::App& to, options& into) {
    to.add_option("CONFIG", into.serve.file, "The configuration, a YAML file");
    to.add_option(
          "--server",
          into.serve.servers,
          "Without a file: host:port of a server, repeatable"
    )
        ->allow_extra_args(false);
    to.add_option("--listen", into.serve.listen, "Without a file: address:port for clients");
    to.add_option(
        "--http",
        into.serve.http,
        "Without a file: address:port for metrics and health, or off"
    );
    to.add_option("--user", into.serve.user, "Without a file: the user that watches the servers");
    to.add_option(
        "--password-env",
        into.serve.password_variable,
        "Without a file: the environment variable that holds that user's password"
    );
}

void add_console_options(CLI::App& to, options& into) {
    to.add_option(
          "--host",
          into.console.host,
          "Address of pgweir, or the folder of its Unix socket"
    )
        ->capture_default_str();
    to.add_option("--port", into.console.port, "Port of pgweir")->capture_default_str();
    to.add_option("--user", into.console.user, "User of the console [PGUSER, else the login name]");
    to.add_flag("--json", into.console.json, "Print JSON instead of a table");
    to.footer(console_note);
}

void on(CLI::App& command, options& into, std::function<int()> what) {
    command.callback([&into, what = std::move(what)] { into.chosen = what; });
}

int ask_console(const options& given, const std::string& command) {
    auto to = given.console;
    if (to.user.empty()) {
        to.user = default_user();
    }
    return ask(to, command);
}

std::string show_command(const options& given) {
    std::string command = "SHOW";
    for (const auto& word : given.words) {
        command += " " + word;
    }
    return command;
}

std::string route_command(const options& given) {
    std::string command = "SHOW ROUTE " + quote(given.sql);
    if (!given.database.empty()) {
        command += " FOR " + quote_name(given.database);
    }
    if (!given.as_user.empty()) {
        command += " " + quote_name(given.as_user);
    }
    return command;
}

void add_file_commands(CLI::App& app, options& given) {
    auto* const check_app = app.add_subcommand("check", "Check a configuration; prints all errors");
    check_app->add_option("CONFIG", given.file, "The configuration")->required();
    check_app->add_flag(
        "--connect",
        given.connect,
        "Also log in to every server as the monitor's user: roles, versions, extensions, lag, "
        "rights"
    );
    on(*check_app, given, [&given] { return check(given.file, given.connect); });

    auto* const diff_app = app.add_subcommand("diff", "What a reload would change");
    diff_app->add_option("OLD", given.file, "The configuration in use")->required();
    diff_app->add_option("NEW", given.other_file, "The new one")->required();
    on(*diff_app, given, [&given] { return diff(given.file, given.other_file); });

    auto* const reference_app =
        app.add_subcommand("reference", "Print the reference of all configuration keys");
    auto* const schema_flag =
        reference_app->add_flag("--json-schema", given.json_schema, "JSON Schema, for editors");
    reference_app->add_flag("--example", given.example, "A YAML file that sets every key")
        ->excludes(schema_flag);
    on(*reference_app, given, [&given] {
        const auto other = given.example ? reference_kind::example : reference_kind::page;
        return print_reference(given.json_schema ? reference_kind::json_schema : other);
    });
}

void add_console_commands(CLI::App& app, options& given) {
    auto* const show_app = app.add_subcommand(
        "show",
        "Ask a running pgweir: clients, servers, pools, topology, migrations, config, version, help"
    );
    show_app->add_option("WHAT", given.words, "What to show")->required();
    add_console_options(*show_app, given);
    on(*show_app, given, [&given] { return ask_console(given, show_command(given)); });

    auto* const route_app =
        app.add_subcommand("route", "Where a running pgweir would send a statement, and why");
    route_app->add_option("SQL", given.sql, "The statement; it is not run")->required();
    auto* const database_option = route_app->add_option(
        "--database",
        given.database,
        "As a client of this database [the first of the configuration]"
    );
    route_app->add_option("--as", given.as_user, "As this user")->needs(database_option);
    add_console_options(*route_app, given);
    on(*route_app, given, [&given] { return ask_console(given, route_command(given)); });

    auto* const reload_app =
        app.add_subcommand("reload", "Make a running pgweir read its configuration again");
    add_console_options(*reload_app, given);
    on(*reload_app, given, [&given] { return ask_console(given, "RELOAD"); });
}

std::string migrate_command(const options& given, const std::string& verb) {
    std::string command = "MIGRATE " + verb;
    if (!given.migration.empty()) {
        command += " " + quote_name(given.migration);
    }
    command += given.dry_run ? " DRY RUN" : "";
    command += given.force ? " FORCE" : "";
    command += given.retry ? " RETRY" : "";
    return command;
}

void add_migrate_commands(CLI::App& app, options& given) {
    struct verb {
        const char* name;
        const char* command;
        const char* help;
    };

    constexpr std::array verbs{
        verb{"start", "START", "Check, make publication and slot, copy, then follow the changes"},
        verb{"status", "STATUS", "Phase, progress and lag of one migration or of all"},
        verb{"pause", "PAUSE", "Stop writing to the store; the slot holds back WAL meanwhile"},
        verb{"resume", "RESUME", "Go on"},
        verb{"verify", "VERIFY", "Compare the store with the table, both ways"},
        verb{"repair", "REPAIR", "Compare, and mend what differs"},
        verb{"dead-letters", "DEAD LETTERS", "Rows that the store refused"},
        verb{
            "remove",
            "REMOVE",
            "Drop slot, publication and journal; the store keeps its documents"}};
    auto* const migrate_app = app.add_subcommand("migrate", "Move embeddings to a vector store");
    migrate_app->require_subcommand(1);
    for (const auto& one : verbs) {
        auto* const verb_app = migrate_app->add_subcommand(one.name, one.help);
        const std::string name = one.name;
        auto* const which = verb_app->add_option("MIGRATION", given.migration, "Its name");
        if (name != "status") {
            which->required();
        }
        if (name == "start") {
            verb_app->add_flag("--dry-run", given.dry_run, "Only check");
            verb_app->add_flag("--force", given.force, "Although a check says no, if it may be");
        }
        if (name == "dead-letters") {
            verb_app->add_flag("--retry", given.retry, "Write them again");
        }
        add_console_options(*verb_app, given);
        on(*verb_app, given, [&given, command = std::string(one.command)] {
            return ask_console(given, migrate_command(given, command));
        });
    }
}

int print_version() {
    std::puts("pgweir " WEIR_VERSION);
    return 0;
}

}  // namespace

int run(int argc, const char* const* argv) {
    CLI::App app("pgweir: pools and routes PostgreSQL connections over a primary and its replicas");
    options given;
    app.footer(examples);
    app.require_subcommand(0, 1);
    app.set_version_flag("--version", "pgweir " WEIR_VERSION);
    add_serve_options(app, given);
    auto* const serve_app = app.add_subcommand("serve", "Run (also without this word)");
    add_serve_options(*serve_app, given);
    add_file_commands(app, given);
    add_console_commands(app, given);
    add_migrate_commands(app, given);
    on(*app.add_subcommand("version", "Print the version"), given, print_version);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_configuration;
    }
    if (given.chosen) {
        return given.chosen();
    }
    if (given.serve.file.empty() && given.serve.servers.empty()) {
        std::fputs(app.help().c_str(), stderr);
        return exit_configuration;
    }
    return serve(given.serve);
}

}  // namespace weir::proxy::cli
