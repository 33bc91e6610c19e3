#include "proxy/cli/cli.hpp"

#include "proxy/cli/commands.hpp"
#include "proxy/cli/table.hpp"
#include "proxy/console/lexer.hpp"
#include "proxy/logging.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

using namespace weir;
using namespace weir::proxy::cli;

namespace {

table example() {
    table made;
    made.columns = {
        {.name = "server"},
        {.name = "lag", .kind = column_kind::number},
        {.name = "up", .kind = column_kind::boolean}};
    made.rows = {{"n1", std::nullopt, "t"}, {"höher", "1200", "f"}, {"a\"b\n", "NaN", "t"}};
    return made;
}

}  // namespace

TEST_SUITE_BEGIN("proxy.cli");

TEST_CASE("a table has columns as wide as what is in them") {
    auto shown = example();
    shown.rows.pop_back();
    CHECK(
        to_text(shown) ==
        "server   lag  up\n"
        "------  ----  --\n"
        "n1            t\n"
        "höher   1200  f\n"
    );
}

TEST_CASE("JSON has numbers and booleans as such and escapes the rest") {
    CHECK(
        to_json(example()) ==
        "[\n"
        "  {\"server\": \"n1\", \"lag\": null, \"up\": true},\n"
        "  {\"server\": \"höher\", \"lag\": 1200, \"up\": false},\n"
        "  {\"server\": \"a\\\"b\\n\", \"lag\": \"NaN\", \"up\": true}\n"
        "]\n"
    );
    CHECK(to_json({}) == "[]\n");
    CHECK(proxy::json_escape("\x01\\") == "\\u0001\\\\");
}

TEST_CASE("quoted texts come back whole from the console's lexer") {
    const std::string sql = "select 'it''s' || E'\\n'; -- \"x\"";
    const auto cut = proxy::console::cut("show route " + quote(sql) + " for " + quote_name("a\"b"));
    REQUIRE(cut.commands.size() == 1);
    REQUIRE(cut.commands[0].size() == 5);
    CHECK(cut.commands[0][2].text == sql);
    CHECK(cut.commands[0][4].text == "a\"b");
}

TEST_CASE("without a file the servers and the user make a configuration") {
    REQUIRE(setenv("PGWEIR_CLI_TEST_PASSWORD", "secret", 1) == 0);
    serve_options options;
    options.servers = {"10.0.0.1:5433", "10.0.0.2"};
    options.listen = "[::1]:7000";
    options.http = "off";
    options.user = "watcher";
    options.password_variable = "PGWEIR_CLI_TEST_PASSWORD";
    const auto made = config_of(options);
    REQUIRE(made.value != nullptr);
    CHECK(made.errors.empty());
    CHECK(made.value->listen.address == "::1");
    CHECK(made.value->listen.port == 7000);
    CHECK_FALSE(made.value->http.enabled);
    options.http = "127.0.0.1:7001";
    CHECK(config_of(options).value->http.port == 7001);
    REQUIRE(made.value->clusters.size() == 1);
    CHECK(made.value->clusters[0].servers.size() == 2);
    CHECK(made.value->clusters[0].monitor.user == "watcher");
    CHECK(made.value->clusters[0].monitor.password == "secret");
    CHECK(made.value->console.stats == std::vector<std::string>{"watcher"});
    CHECK(made.value->console.admin.empty());
    // Its password opens the servers, so it is asked for before the rules that trust.
    REQUIRE_FALSE(made.value->authentication.rules.empty());
    const auto& rules = made.value->authentication.rules;
    CHECK(rules.front().users == std::vector<std::string>{"watcher"});
    CHECK(rules.front().method == config::auth_method::scram_sha_256);
    CHECK(rules.back().method == config::auth_method::trust);
}

TEST_CASE("everything that is wrong without a file is told at once") {
    serve_options options;
    options.servers = {":x"};
    options.listen = "7000";
    options.password_variable = "PGWEIR_CLI_TEST_NO_SUCH_VARIABLE";
    const auto made = config_of(options);
    CHECK(made.value == nullptr);
    REQUIRE(made.errors.size() == 4);
    CHECK(made.errors[0].find("':x' is no server") != std::string::npos);
    CHECK(made.errors[1] == "--user: missing; the monitor logs in to the servers with it");
    CHECK(
        made.errors[2] ==
        "--listen: '7000' is no address; expected address:port, such as 127.0.0.1:6432"
    );
    CHECK(
        made.errors[3] ==
        "--password-env: the environment has no variable PGWEIR_CLI_TEST_NO_SUCH_VARIABLE"
    );
    options.file = "x.yaml";
    CHECK(
        config_of(options).errors ==
        std::vector<std::string>{"give either a file or --server, not both"}
    );
}

TEST_CASE("a wrong command line and a wrong file give exit code 2") {
    const char* nonsense[] = {"pgweir", "--nonsense"};
    CHECK(run(2, nonsense) == exit_configuration);
    const char* no_file[] = {"pgweir", "check", "no/such/file.yaml"};
    CHECK(run(3, no_file) == exit_configuration);
    const char* missing[] = {"pgweir", "check"};
    CHECK(run(2, missing) == exit_configuration);
    const char* nothing[] = {"pgweir"};
    CHECK(run(1, nothing) == exit_configuration);
    const char* version[] = {"pgweir", "version"};
    CHECK(run(2, version) == 0);
    const char* help[] = {"pgweir", "--help"};
    CHECK(run(2, help) == 0);
}

TEST_SUITE_END();
