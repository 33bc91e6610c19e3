#include "migration/supervisor.hpp"

#include "tests/unit/migration/silent_server.hpp"

#include <doctest/doctest.h>

#include <thread>

namespace weir::migration {
namespace {

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
    test::silent_server primary;
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
