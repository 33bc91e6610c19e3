#include "tests/integration/support/proxy_process.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace weir::integration {
namespace {

std::string read_file(const std::string& name) {
    std::ifstream in(name);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string servers_text(const cluster& servers, const proxy_options& options) {
    std::ostringstream text;
    for (const auto& each : servers.nodes()) {
        const auto& wanted = options.nodes;
        if ((options.primary_only && each.name != servers.primary().name) ||
            (!wanted.empty() && std::count(wanted.begin(), wanted.end(), each.name) == 0)) {
            continue;
        }
        const auto relay = options.relays.find(each.name);
        const auto port = relay == options.relays.end() ? each.at.port : relay->second;
        text << "      - {name: " << each.name << ", host: " << each.at.host << ", port: " << port
             << "}\n";
    }
    return text.str();
}

std::string users_text(const cluster& servers) {
    std::ostringstream text;
    text << "users:\n";
    for (const auto& [name, password] : servers.users()) {
        text << "  - {name: " << name << ", password: \"" << password << "\"}\n";
    }
    return text.str();
}

// The child's part after fork: only calls that are safe there.
[[noreturn]] void become(const char* program, const char* file, int log) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive a killed test
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execl(program, program, file, nullptr);
    _exit(127);
}

}  // namespace

std::string configuration(
    const cluster& servers,
    const proxy_options& options,
    std::uint16_t port,
    std::uint16_t http_port
) {
    std::ostringstream text;
    text << "listen: {address: 127.0.0.1, port: " << port
         << (options.listen.empty() ? "" : ", " + options.listen) << "}\n"
         << "http: {listen: \"127.0.0.1:" << http_port << "\"}\n"
         << "workers: " << options.workers << "\n"
         << "clusters:\n  main:\n    servers:\n"
         << servers_text(servers, options) << "    monitor: {user: pgweir, password: \""
         << servers.password("pgweir") << "\", database: " << servers.database() << "}\n"
         << "    lag: " << options.lag << "\n"
         << "    pool: " << options.pool << "\n";
    for (const auto& line : options.cluster_lines) {
        text << "    " << line << "\n";
    }
    text << "databases: "
         << (options.databases.empty() ? "{\"*\": {cluster: main}}" : options.databases) << "\n"
         << users_text(servers) << "console: {admin: [postgres]}\n";
    for (const auto& line : options.lines) {
        text << line << "\n";
    }
    return text.str();
}

proxy_process::proxy_process(const cluster& servers, const proxy_options& options)
    : servers_(servers), at_{.host = "127.0.0.1", .port = free_port()} {
    do {
        http_.port = free_port();
    } while (http_.port == at_.port);
    std::string folder = std::filesystem::temp_directory_path() / "pgweir-test-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) {
        throw std::runtime_error("no temporary folder");
    }
    folder_ = folder;
    file_ = folder_ + "/pgweir.yaml";
    write_configuration(options);
    launch();
    const bool ready =
        wait_until([this] { return ended() || http_get(http_, "/readyz").status == 200; });
    if (!ready || ended()) {
        const auto why = log();
        asked_ = true;
        send_signal(SIGKILL);
        reap(true);
        std::filesystem::remove_all(folder_);
        throw std::runtime_error("the proxy is not ready:\n" + why);
    }
}

proxy_process::~proxy_process() {
    const bool died = ended() && !asked_;
    const int code = stop();
    CHECK_MESSAGE(!died, "the proxy ended by itself");
    CHECK_MESSAGE(code == 0, "exit code of the proxy; its log: ", log());
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void proxy_process::write_configuration(const proxy_options& options) const {
    std::ofstream out(file_);
    out << configuration(servers_, options, at_.port, http_.port);
}

void proxy_process::launch() {
    const char* const program = environment("PGWEIR_BIN");
    const file_descriptor log(
        open((folder_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)
    );
    pid_ = fork();
    if (pid_ == 0) {
        become(program, file_.c_str(), log.get());
    }
    if (pid_ < 0) {
        throw std::runtime_error("fork");
    }
}

bool proxy_process::reap(bool wait) {
    if (stopped_) {
        return true;
    }
    int status = 0;
    if (waitpid(pid_, &status, wait ? 0 : WNOHANG) != pid_) {
        return false;
    }
    stopped_ = true;
    exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

bool proxy_process::ended() {
    return reap(false);
}

void proxy_process::send_signal(int number) const {
    if (!stopped_) {
        kill(pid_, number);
    }
}

int proxy_process::stop(milliseconds limit) {
    asked_ = true;
    send_signal(SIGTERM);
    if (!wait_until([this] { return ended(); }, limit)) {
        send_signal(SIGKILL);
        reap(true);
    }
    return exit_code_;
}

void proxy_process::reload(const proxy_options& options) {
    write_configuration(options);
    send_signal(SIGHUP);
}

std::string proxy_process::log() const {
    return read_file(folder_ + "/log");
}

double proxy_process::metric(
    std::string_view name,
    const std::map<std::string, std::string>& labels
) const {
    return series_sum(http_get(http_, "/metrics").body, name, labels);
}

double series_sum(
    std::string_view page,
    std::string_view name,
    const std::map<std::string, std::string>& labels
) {
    std::istringstream lines{std::string(page)};
    std::string line;
    double sum = 0;
    while (std::getline(lines, line)) {
        const auto end = line.find_first_of(" {");
        if (line.substr(0, end) != name) {
            continue;
        }
        const auto fits = [&](const auto& label) {
            const auto text = label.first + "=\"" + label.second + "\"";
            return line.find("{" + text) != std::string::npos ||
                   line.find("," + text) != std::string::npos;
        };
        if (std::all_of(labels.begin(), labels.end(), fits)) {
            sum += std::stod(line.substr(line.rfind(' ') + 1));
        }
    }
    return sum;
}

pq_result proxy_process::console(const std::string& command) const {
    auto as = login_as(servers_, "postgres");
    as.database = "pgweir";
    pq_connection to_console(at_, as);
    return to_console.query(command);
}

std::size_t proxy_process::status_bytes(std::string_view key) const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
    std::string word;
    while (in >> word) {
        if (word == key) {
            std::size_t kilobytes = 0;
            in >> kilobytes;
            return kilobytes * 1024;
        }
    }
    throw std::runtime_error("no " + std::string(key) + " of the proxy");
}

void proxy_process::reset_peak() const {
    std::ofstream("/proc/" + std::to_string(pid_) + "/clear_refs") << "5";
}

bool proxy_process::idle() const {
    const auto page = http_get(http_, "/metrics").body;
    return series_sum(page, "pgweir_server_connections", {{"state", "active"}}) == 0 &&
           series_sum(page, "pgweir_pool_waiting", {}) == 0;
}

}  // namespace weir::integration
