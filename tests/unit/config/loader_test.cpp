#include "config/loader.hpp"

#include "tests/unit/config/yaml_support.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string_view>

using namespace std::chrono_literals;

namespace weir::config {

namespace {

const std::string data = WEIR_CONFIG_DATA;

config loaded(std::string_view yaml, const environment& known = test::variables({})) {
    auto result = load(yaml, data + "/t.yaml", known);
    REQUIRE(print_errors(result.errors) == "");
    REQUIRE(result.value.has_value());
    return *result.value;
}

std::string without(std::string text, const std::string& what) {
    const auto at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.erase(at, what.size());
}

std::string operations_yaml() {
    std::ifstream stream(data + "/operations.yaml", std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

const environment passwords =
    test::variables({{"MONITOR_PASSWORD", "secret of m"}, {"APP_PASSWORD", "secret of a"}});

constexpr std::string_view block_style = R"(
listen:
  address: "::1"
  port: 7000
  login_timeout: 5s
http: off
workers: 2
clusters:
  main:
    servers:
      - host: 10.0.0.1
        port: 5433
        name: alpha
      - host: fd00::2
    monitor:
      user: m
      password: file:password
databases:
  app:
    cluster: main
    pool_mode: session
    database: app_production
users:
  - name: app
    password: 1234
console:
  admin: [app]
  stats: app
routing:
  rules:
    - name: bound
      match:
        kind: read
        user: a*
      consistency:
        bounded: 800ms
      targets: replicas
    - name: text
      match: {functions: [f, g]}
      consistency: "bounded: 1s"
  safe_functions: [s.f]
  trait_cache: 1GiB
  max_parse_bytes: 2048
log:
  level: debug
  format: json
  connections: no
)";

}  // namespace

TEST_SUITE_BEGIN("config.loader");

TEST_CASE("the least file leaves every default in place") {
    const auto c = loaded(test::least);
    const config fresh;
    CHECK(c.listen.port == fresh.listen.port);
    CHECK(c.http.enabled);
    CHECK(c.workers == 0);
    REQUIRE(c.clusters.size() == 1);
    CHECK(c.clusters[0].name == "main");
    REQUIRE(c.clusters[0].servers.size() == 1);
    CHECK(c.clusters[0].servers[0].host == "a");
    CHECK(c.clusters[0].servers[0].name == "a:5432");
    CHECK(c.clusters[0].pool.queue_timeout == 120s);
    REQUIRE(c.databases.size() == 1);
    CHECK(c.databases[0].name == "*");
    CHECK(c.databases[0].cluster == "main");
    CHECK(c.databases[0].server_database.empty());
    CHECK(c.users.empty());
    CHECK(c.authentication.rules.empty());
}

TEST_CASE("the file of the design loads but for what is not built yet") {
    const auto result = load(operations_yaml(), "operations.yaml", passwords);
    std::string not_available;
    for (const auto& e : result.errors) {
        if (e.text.find("not available in this version") != std::string::npos) {
            not_available += to_string(e) + "\n";
        }
    }
    CHECK(
        not_available ==
        "operations.yaml:15:30: clusters.main.pool.reserve is not available in this version\n"
        "operations.yaml:15:42: clusters.main.pool.reserve_timeout is not available in this "
        "version\n"
        "operations.yaml:26:3: authentication.query is not available in this version\n"
        "operations.yaml:30:118: routing.rules[1].max_concurrency is not available in this "
        "version\n"
        "operations.yaml:31:82: routing.rules[2].consistency 'session' is not available in this "
        "version; expected "
        "strong, eventual or {bounded: 5s}\n"
        "operations.yaml:31:91: routing.rules[2].multiplex is not available in this version\n"
        "operations.yaml:32:82: routing.rules[3].priority is not available in this version\n"
    );
    CHECK_FALSE(result.value.has_value());
}

TEST_CASE("the file of the design without these keys fills the config") {
    auto yaml = operations_yaml();
    for (const std::string_view part :
         {"reserve: 5, reserve_timeout: 3s, ",
          "  query: {user: pgweir, sql: \"SELECT usename, passwd FROM pgweir.user_lookup($1)\"}\n",
          ", max_concurrency: 40",
          "consistency: session, multiplex: grouped",
          ", priority: low"}) {
        yaml = without(yaml, std::string(part));
    }
    const auto c = loaded(yaml, passwords);
    CHECK(c.listen.unix_socket == data + "/run");
    CHECK(c.listen.tls.mode == tls_mode::prefer);
    CHECK(c.listen.tls.certificate == data + "/server.crt");
    REQUIRE(c.clusters.size() == 1);
    const auto& main = c.clusters[0];
    REQUIRE(main.servers.size() == 3);
    CHECK(main.servers[1].zone == "b");
    CHECK(main.servers[2].weight == 2.0);
    CHECK(main.monitor.password == "secret of m");
    CHECK(main.tls.mode == tls_mode::verify_full);
    CHECK(main.tls.ca == data + "/root.crt");
    CHECK(main.pool.min == 2);
    CHECK(main.pool.idle_timeout == 10min);
    REQUIRE(c.databases.size() == 2);
    CHECK(c.databases[1].name == "*");
    REQUIRE(c.users.size() == 1);
    CHECK(c.users[0].secret == "secret of a");
    REQUIRE(c.authentication.rules.size() == 1);
    CHECK(c.authentication.rules[0].users == std::vector<std::string>{"all"});
    CHECK(c.authentication.rules[0].address == "127.0.0.1/32");
    REQUIRE(c.routing.rules.size() == 3);
    const auto& nearest = c.routing.rules[0];
    CHECK(nearest.name == "nearest neighbours");
    CHECK(nearest.match.vector == true);
    REQUIRE(nearest.consistency.has_value());
    CHECK(nearest.consistency->level == consistency_level::bounded);
    CHECK(nearest.consistency->bound == 5s);
    REQUIRE(nearest.settings.size() == 1);
    CHECK(nearest.settings[0].first == "hnsw.ef_search");
    CHECK(nearest.settings[0].second == "100");
    CHECK(c.routing.rules[1].match.tables == std::vector<std::string>{"features.*"});
    CHECK_FALSE(c.routing.rules[1].consistency.has_value());
    CHECK(c.routing.rules[2].match.application_name == "report*");
    CHECK(c.routing.rules[2].consistency->level == consistency_level::eventual);
}

TEST_CASE("block style fills the same") {
    const auto c = loaded(block_style);
    CHECK(c.listen.address == "::1");
    CHECK(c.listen.port == 7000);
    CHECK(c.listen.login_timeout == 5s);
    CHECK_FALSE(c.http.enabled);
    CHECK(c.workers == 2);
    CHECK(c.clusters[0].servers[0].name == "alpha");
    CHECK(c.clusters[0].servers[0].port == 5433);
    CHECK(c.clusters[0].servers[1].name == "[fd00::2]:5432");
    CHECK(c.clusters[0].monitor.password == "from a file");
    CHECK(c.databases[0].pool_mode == pool_mode::session);
    CHECK(c.databases[0].server_database == "app_production");
    CHECK(c.users[0].secret == "1234");
    CHECK(c.console.admin == std::vector<std::string>{"app"});
    CHECK(c.console.stats == std::vector<std::string>{"app"});
    CHECK(c.routing.rules[0].consistency->bound == 800ms);
    CHECK(c.routing.rules[0].targets == targets::replicas);
    CHECK(c.routing.rules[0].match.kind == "read");
    CHECK(c.routing.rules[1].consistency->bound == 1s);
    CHECK(c.routing.rules[1].match.functions == std::vector<std::string>{"f", "g"});
    CHECK(c.routing.safe_functions == std::vector<std::string>{"s.f"});
    CHECK(c.routing.trait_cache_bytes == 1ULL << 30);
    CHECK(c.routing.max_parse_bytes == 2048);
    CHECK(c.log.level == log_level::debug);
    CHECK(c.log.json);
    CHECK_FALSE(c.log.connections);
}

TEST_CASE("the HTTP listener is off or an endpoint in three ways") {
    CHECK_FALSE(loaded(test::complete("http: {listen: off}")).http.enabled);
    const auto c = loaded(test::complete("http: \"[::1]:8080\""));
    CHECK(c.http.enabled);
    CHECK(c.http.address == "::1");
    CHECK(c.http.port == 8080);
    CHECK(loaded(test::complete("http: {listen: \"0.0.0.0:80\"}")).http.address == "0.0.0.0");
}

TEST_CASE("variables may stand in any value") {
    const auto known = test::variables({{"PORT", "7001"}, {"NAME", "b"}, {"LIMIT", "5m"}});
    const auto c = loaded(
        "listen: {port: \"${PORT}\", login_timeout: \"${LIMIT}\"}\n"
        "clusters: {main: {servers: [{host: \"a.${NAME}.c\"}], monitor: {user: m}}}\n"
        "databases: {app: {cluster: main, database: \"$${NAME}\"}}\n",
        known
    );
    CHECK(c.listen.port == 7001);
    CHECK(c.listen.login_timeout == 5min);
    CHECK(c.clusters[0].servers[0].host == "a.b.c");
    CHECK(c.databases[0].server_database == "${NAME}");
}

TEST_CASE("an empty block means its defaults") {
    const auto c = loaded(test::complete("listen:\nrouting:\n  rules:\nusers: []\n"));
    CHECK(c.listen.port == 6432);
    CHECK(c.routing.rules.empty());
}

TEST_CASE("a file is loaded from disk with errors that name it") {
    const auto good = load_file(data + "/operations.yaml", passwords);
    CHECK(good.errors.size() == 7);
    CHECK(good.errors.front().file == data + "/operations.yaml");
    const auto missing = load_file("no/such.yaml", passwords);
    CHECK(
        print_errors(missing.errors) == "no/such.yaml: cannot be read: No such file or directory\n"
    );
    const auto folder = load_file(data, passwords);
    CHECK(print_errors(folder.errors) == data + ": is a directory; expected a YAML file\n");
}

TEST_CASE("servers on the command line make a config") {
    const auto result = from_servers({"10.0.0.1:5433", "db", "[::1]:5434"});
    REQUIRE(result.value.has_value());
    const auto& c = *result.value;
    REQUIRE(c.clusters.size() == 1);
    CHECK(c.clusters[0].name == "main");
    REQUIRE(c.clusters[0].servers.size() == 3);
    CHECK(c.clusters[0].servers[0].name == "10.0.0.1:5433");
    CHECK(c.clusters[0].servers[1].port == 5432);
    CHECK(c.clusters[0].servers[2].host == "::1");
    REQUIRE(c.databases.size() == 1);
    CHECK(c.databases[0].name == "*");
    CHECK(c.databases[0].cluster == "main");
    REQUIRE(c.authentication.rules.size() == 3);
    CHECK(c.authentication.rules[0].address == "127.0.0.0/8");
    CHECK(c.authentication.rules[2].address == "local");
    CHECK(c.authentication.rules[2].method == auth_method::trust);
}

TEST_CASE("all wrong servers on the command line are errors") {
    CHECK(
        print_errors(from_servers({"a:b", "good", "::1", ""}).errors) ==
        "--server: 'a:b' is no server; expected host:port, such as 127.0.0.1:5432\n"
        "--server: '::1' is no server; expected host:port, such as 127.0.0.1:5432\n"
        "--server: '' is no server; expected host:port, such as 127.0.0.1:5432\n"
    );
    CHECK(
        print_errors(from_servers({}).errors) ==
        "--server: no server is given; expected host:port\n"
    );
}

TEST_SUITE_END();

}  // namespace weir::config
