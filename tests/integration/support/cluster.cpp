#include "tests/integration/support/cluster.hpp"

#include <boost/json.hpp>

#include <sys/wait.h>

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace weir::integration {
namespace {

std::string text_at(const boost::json::value& in, const char* key) {
    return std::string(in.at(key).as_string());
}

server_node read_node(const boost::json::value& from) {
    return {
        .name = text_at(from, "name"),
        .at =
            {.host = text_at(from, "host"),
             .port = static_cast<std::uint16_t>(from.at("port").as_int64())},
        .data = text_at(from, "data"),
        .pid_file = text_at(from, "pid_file"),
        .log = text_at(from, "log"),
        .role = text_at(from, "role"),
    };
}

certificate_files read_certificates(const boost::json::value& from) {
    if (from.is_null()) {
        return {};
    }
    return {
        .ca = text_at(from, "ca"),
        .certificate = text_at(from, "certificate"),
        .key = text_at(from, "key"),
        .wrong_ca = text_at(from, "wrong_ca"),
    };
}

}  // namespace

std::string run_command(const std::string& command) {
    std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) {
        throw std::runtime_error("cannot run " + command);
    }
    std::string output;
    std::array<char, 4096> piece{};
    for (auto got = fread(piece.data(), 1, piece.size(), pipe); got > 0;
         got = fread(piece.data(), 1, piece.size(), pipe)) {
        output.append(piece.data(), got);
    }
    const int status = pclose(pipe);
    if (status != 0) {
        throw std::runtime_error(command + ": " + output);
    }
    return output;
}

cluster::cluster(std::string note) : note_(std::move(note)) {
    std::ifstream in(note_);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const auto read = boost::json::parse(text);
    database_ = text_at(read, "database");
    for (const auto& [name, password] : read.at("users").as_object()) {
        users_.emplace(name, password.as_string());
    }
    for (const auto& each : read.at("nodes").as_array()) {
        nodes_.push_back(read_node(each));
    }
    certificates_ = read_certificates(read.at("tls"));
}

cluster& cluster::shared() {
    static cluster only(environment("PGWEIR_TEST_CLUSTER"));
    return only;
}

cluster cluster::start_own(std::string_view name, std::string_view options) {
    const auto note = std::string(environment("PGWEIR_BUILD_DIR")) + "/test-cluster-" +
                      std::string(name) + ".json";
    const auto tool = std::string(environment("PGWEIR_CLUSTER_TOOL"));
    run_command(tool + " start --replace --note '" + note + "' " + std::string(options));
    const auto destroy =
        "trap '' INT TERM HUP; read ignored; exec " + tool + " -C '" + note + "' destroy";
    std::FILE* const keeper = popen(destroy.c_str(), "w");
    if (keeper == nullptr) {
        run_command(tool + " -C '" + note + "' destroy");
        throw std::runtime_error("no keeper for the cluster");
    }
    std::unique_ptr<std::FILE, keeper_close> kept(keeper);
    cluster made(note);
    made.keeper_ = std::move(kept);
    return made;
}

std::string cluster::tool(std::string_view command) const {
    return run_command(
        std::string(environment("PGWEIR_CLUSTER_TOOL")) + " -C '" + note_ + "' " +
        std::string(command)
    );
}

const server_node& cluster::node(std::string_view name) const {
    for (const auto& each : nodes_) {
        if (each.name == name) {
            return each;
        }
    }
    throw std::runtime_error("no node " + std::string(name));
}

}  // namespace weir::integration
