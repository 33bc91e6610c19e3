#include "tests/stores/server.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <utility>

namespace weir::stores {
namespace {

// The child's part after fork: only calls that are safe there.
[[noreturn]] void become(char* const* arguments, int output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive a killed test
    dup2(output, STDOUT_FILENO);
    execvp(arguments[0], arguments);
    _exit(127);
}

// Reads lines until "ready PORT".
std::optional<std::uint16_t> await_port(int input) {
    std::string text;
    std::array<char, 512> piece{};
    for (;;) {
        const auto got = read(input, piece.data(), piece.size());
        if (got <= 0) {
            return std::nullopt;
        }
        text.append(piece.data(), static_cast<std::size_t>(got));
        const auto begin = text.find("ready ");
        if (begin == std::string::npos || text.find('\n', begin) == std::string::npos) {
            continue;
        }
        std::uint16_t port = 0;
        std::from_chars(text.data() + begin + 6, text.data() + text.size(), port);
        return port;
    }
}

}  // namespace

server::server(std::vector<std::string> command) : command_(std::move(command)) {
    start();
}

server::~server() {
    kill();
}

std::string server::url() const {
    return "http://127.0.0.1:" + std::to_string(port_);
}

void server::start() {
    std::array<int, 2> pipe{};
    if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
        throw std::runtime_error("no pipe");
    }
    std::vector<char*> arguments;
    for (auto& each : command_) {
        arguments.push_back(each.data());
    }
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
        become(arguments.data(), pipe[1]);
    }
    close(pipe[1]);
    const auto port = pid_ < 0 ? std::nullopt : await_port(pipe[0]);
    close(pipe[0]);
    if (!port) {
        kill();
        throw std::runtime_error("it did not get ready: " + command_.front());
    }
    port_ = *port;
}

void server::kill() noexcept {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }
}

}  // namespace weir::stores
