#include "migration/supervisor.hpp"

#include <doctest/doctest.h>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace weir::migration {
namespace {

// Takes connections and says nothing: whoever logs in waits.
class silent_server {
public:
    silent_server() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* at = reinterpret_cast<sockaddr*>(&where);
        socklen_t size = sizeof(where);
        REQUIRE(::bind(listener_, at, size) == 0);
        REQUIRE(::listen(listener_, 8) == 0);
        REQUIRE(::getsockname(listener_, at, &size) == 0);
        port = ntohs(where.sin_port);
    }

    silent_server(const silent_server&) = delete;
    silent_server& operator=(const silent_server&) = delete;

    ~silent_server() { close(); }

    // Waits for one.
    void accept() { client_ = ::accept(listener_, nullptr, nullptr); }

    [[nodiscard]] bool client_waits() const {
        std::array<char, 4096> bytes{};
        ssize_t size = 0;
        do {
            size = ::recv(client_, bytes.data(), bytes.size(), MSG_DONTWAIT);
        } while (size > 0);
        return size < 0 && errno == EAGAIN;
    }

    void close() {
        for (auto* one : {&client_, &listener_}) {
            if (*one >= 0) {
                ::close(std::exchange(*one, -1));
            }
        }
    }

    std::uint16_t port = 0;

private:
    int listener_ = -1;
    int client_ = -1;
};

config::config described(std::uint16_t port) {
    config::config made;
    auto& cluster = made.clusters.emplace_back();
    cluster.name = "main";
    cluster.tls.mode = config::tls_mode::disable;
    cluster.servers.push_back({.name = "one", .host = "127.0.0.1", .port = port, .zone = ""});
    auto& database = made.databases.emplace_back();
    database.name = "app";
    database.cluster = "main";
    made.stores.emplace_back().name = "vectors";
    auto& intent = made.migrations.emplace_back();
    intent.name = "documents";
    intent.database = "app";
    intent.store = "vectors";
    return made;
}

}  // namespace

TEST_SUITE_BEGIN("migration.supervisor");

TEST_CASE("a new configuration does not wait for the end of what it replaces") {
    silent_server primary;
    auto from = described(primary.port);
    supervisor all(from);
    CHECK(all.statuses().size() == 1);
    primary.accept();
    from.migrations.clear();
    all.configure(from);
    // The log-in of the migration's that is to end is still under way.
    CHECK(primary.client_waits());
    while (!all.statuses().empty()) {
        std::this_thread::yield();
    }
    CHECK(primary.client_waits());
    primary.close();
}

TEST_SUITE_END();

}  // namespace weir::migration
