// What the program is told from outside: its file, at the start and again, and signals.
#include "tests/integration/state_tools.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.input_configuration");

namespace {

struct outcome {
    int code = -1;
    std::string text;  // both streams
};

outcome run(const std::string& arguments) {
    const std::string command = std::string(environment("PGWEIR_BIN")) + " " + arguments + " 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    outcome made;
    char buffer[4096];
    while (const auto n = fread(buffer, 1, sizeof buffer, pipe)) {
        made.text.append(buffer, n);
    }
    const int status = pclose(pipe);
    made.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return made;
}

class temporary_file {
public:
    explicit temporary_file(const std::string& text)
        : name_((std::filesystem::temp_directory_path() / "pgweir-input-XXXXXX").string()) {
        const int made = mkstemp(name_.data());
        REQUIRE(made >= 0);
        const file_descriptor closes(made);
        std::ofstream(name_) << text;
    }

    ~temporary_file() { std::filesystem::remove(name_); }

    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    std::string name_;
};

constexpr const char* wrong = R"(listen: {port: 99999}
clusters:
  main:
    servers:
      - {host: 127.0.0.1, prot: 5432}
    pool: {size: many, min: 3}
databases:
  app: {cluster: mian}
users:
  - {name: app, password: one}
  - {name: app, password: two}
routing:
  rules:
    - {name: nn, consistency: {bounded: 5}}
)";

struct expected_error {
    const char* place;  // line:column
    const char* what;
};

const std::vector<expected_error> expected{
    {"1:16", "port"},
    {"4:5", "monitor.user"},
    {"5:27", "prot"},
    {"6:18", "size"},
    {"8:18", "mian"},
    {"11:12", "app"},
    {"14:41", "consistency"}};

// A line that begins like that and holds the word.
void check_tells(const std::string& text, const std::string& beginning, const char* word) {
    const auto at = text.find(beginning);
    REQUIRE_MESSAGE(at != std::string::npos, beginning, " is not in:\n", text);
    const auto line = text.substr(at, text.find('\n', at) - at);
    CHECK_MESSAGE(line.find(word) != std::string::npos, line);
}

bool is_in_transaction(pq_connection& client) {
    return PQtransactionStatus(client.get()) == PQTRANS_INTRANS;
}

void check_drains(unsigned workers) {
    CAPTURE(workers);
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 3}", workers));
    pq_connection idle(proxy.at(), login_as(servers));
    pq_connection busy(proxy.at(), login_as(servers));
    pq_connection pinned(proxy.at(), login_as(servers));
    CHECK(idle.value("select 1") == "1");
    pinned.query("create temp table state_t (x int)");
    busy.query("begin");
    proxy.send_signal(SIGTERM);
    REQUIRE(wait_until([&] { return !idle.try_query("select 1").ok(); }));
    CHECK(wait_until([&] { return !pinned.try_query("select 1").ok(); }));
    CHECK_FALSE(pq_connection::try_connect(proxy.at(), login_as(servers)).ok());
    CHECK(busy.value("select 3") == "3");
    CHECK_FALSE(proxy.ended());
    static_cast<void>(busy.try_query("commit"));
    CHECK(proxy.stop() == 0);
}

void check_ends_at_once(const std::vector<int>& signals) {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 3}", 2));
    pq_connection busy(proxy.at(), login_as(servers));
    busy.query("begin");
    for (const int each : signals) {
        proxy.send_signal(each);
    }
    REQUIRE(wait_until([&] { return proxy.ended(); }));
    CHECK_FALSE(busy.try_query("select 1").ok());
    CHECK(proxy.stop() == 0);
}

}  // namespace

TEST_CASE("a wrong file gives every error with its place and exit code 2") {
    const temporary_file file(wrong);
    for (const std::string command : {"check ", ""}) {
        CAPTURE(command);
        const auto seen = run(command + file.name());
        CHECK(seen.code == 2);
        for (const auto& each : expected) {
            check_tells(seen.text, file.name() + ":" + each.place + ":", each.what);
        }
    }
}

TEST_CASE("a file that is not there and one that is no YAML give exit code 2") {
    CHECK(run("check no-such-file.yaml").code == 2);
    const temporary_file broken("listen: {port: 6432\nclusters: [\n");
    const auto seen = run("check " + broken.name());
    CHECK(seen.code == 2);
    CHECK(seen.text.find(broken.name() + ":") != std::string::npos);
    CHECK(run("--no-such-option").code != 0);
}

TEST_CASE("a good file passes the check") {
    auto& servers = cluster::shared();
    const temporary_file file(configuration(servers, one_server("{size: 2}"), 6432, 9632));
    const auto seen = run("check " + file.name());
    CHECK_MESSAGE(seen.code == 0, seen.text);
}

TEST_CASE("SIGHUP takes a good file and says what has changed") {
    auto& servers = cluster::shared();
    auto options = one_server("{size: 1}");
    proxy_process proxy(servers, options);
    pq_connection first(proxy.at(), login_as(servers));
    pq_connection second(proxy.at(), login_as(servers));
    first.query("begin");
    const auto pid = first.value("select pg_backend_pid()");
    start(second, "select 2");
    REQUIRE(wait_until([&] { return waiting_clients(proxy) == 1; }));
    options.pool = "{size: 3}";
    proxy.reload(options);
    // The waiting client is served by the larger pool; the transaction goes on undisturbed.
    CHECK(receive(second).at(0, 0) == "2");
    CHECK(first.value("select pg_backend_pid()") == pid);
    CHECK(is_in_transaction(first));
    first.query("commit");
    CHECK(first.value("select 1") == "1");
    CHECK(proxy.log().find("size") != std::string::npos);
}

TEST_CASE("SIGHUP with a wrong file changes nothing and says why") {
    auto& servers = cluster::shared();
    auto options = one_server("{size: 1}");
    proxy_process proxy(servers, options);
    pq_connection client(proxy.at(), login_as(servers));
    options.pool = "{size: many}";
    proxy.reload(options);
    REQUIRE(wait_until([&] { return proxy.log().find("many") != std::string::npos; }));
    CHECK(client.value("select 1") == "1");
    CHECK(pq_connection(proxy.at(), login_as(servers)).value("select 1") == "1");
    options.pool = "{size: 2}";
    proxy.reload(options);
    pq_connection other(proxy.at(), login_as(servers));
    client.query("begin");
    client.query("select 1");
    CHECK(other.value("select 2") == "2");  // the second connection
}

TEST_CASE("SIGHUP lets a new user in and a removed one not") {
    auto& servers = cluster::shared();
    auto options = one_server("{size: 1}");
    options.lines = {"authentication: {rules: [{database: all, user: app}]}"};
    proxy_process proxy(servers, options);
    CHECK_FALSE(pq_connection::try_connect(proxy.at(), login_as(servers, "app2")).ok());
    options.lines = {"authentication: {rules: [{database: all, user: app2}]}"};
    proxy.reload(options);
    REQUIRE(wait_until([&] {
        return pq_connection::try_connect(proxy.at(), login_as(servers, "app2")).ok();
    }));
    CHECK_FALSE(pq_connection::try_connect(proxy.at(), login_as(servers)).ok());
}

TEST_CASE("SIGHUP many times under load loses nothing") {
    auto& servers = cluster::shared();
    auto options = one_server("{size: 2}", 2);
    proxy_process proxy(servers, options);
    std::vector<pq_connection> clients;
    clients.reserve(6);
    for (int i = 0; i < 6; ++i) {
        clients.emplace_back(proxy.at(), login_as(servers));
    }
    for (int round = 0; round < 20; ++round) {
        options.pool = "{size: " + std::to_string(1 + round % 3) + "}";
        for (auto& each : clients) {
            start(each, "select " + std::to_string(round));
        }
        proxy.reload(options);
        for (auto& each : clients) {
            const auto answer = receive(each);
            CHECK(answer.code().empty());
            CHECK(answer.at(0, 0) == std::to_string(round));
        }
    }
}

TEST_CASE("SIGTERM lets transactions end and everybody else go") {
    check_drains(1);
    check_drains(2);
}

TEST_CASE("SIGINT ends it at once") {
    check_ends_at_once({SIGINT});
    check_ends_at_once({SIGTERM, SIGINT});
}

TEST_CASE("a port that is taken is told and gives an exit code") {
    auto& servers = cluster::shared();
    const auto taken = listen_on(0);
    const temporary_file file(
        configuration(servers, one_server("{size: 2}"), port_of(taken), free_port())
    );
    const auto seen = run(file.name());
    CHECK(seen.code == 1);
    CHECK_MESSAGE(seen.text.find(std::to_string(port_of(taken))) != std::string::npos, seen.text);
}

TEST_SUITE_END();

}  // namespace weir::integration
