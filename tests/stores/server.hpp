// A server that a test starts: an emulator, or a real store. It ends with the object, and also when
// the test is killed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace weir::stores {

class server {
public:
    // Runs the command and waits for its line "ready PORT" on standard output. Throws
    // std::runtime_error when it ends without one.
    explicit server(std::vector<std::string> command);
    server(const server&) = delete;
    server& operator=(const server&) = delete;
    ~server();

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    // "http://127.0.0.1:PORT"
    [[nodiscard]] std::string url() const;

    void kill() noexcept;  // SIGKILL, and waits for its end
    // Again with the same command, as after kill(); the port may be another.
    void start();

private:
    std::vector<std::string> command_;
    pid_t pid_ = -1;
    std::uint16_t port_ = 0;
};

}  // namespace weir::stores
