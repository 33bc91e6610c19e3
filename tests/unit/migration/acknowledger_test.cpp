#include "migration/acknowledger.hpp"

#include "tests/unit/migration/silent_server.hpp"

#include <doctest/doctest.h>

#include <future>

namespace weir::migration {

TEST_SUITE_BEGIN("migration.acknowledger");

TEST_CASE("B148 a commit is answered in time although the primary says nothing") {
    test::silent_server silent;
    source_servers servers;
    auto& where = servers.addresses.emplace_back();
    where.host = "127.0.0.1";
    where.port = silent.port;
    acknowledger waits(servers, std::chrono::milliseconds(50), [](primary&) {
        return std::optional<std::uint64_t>();
    });
    waits.start();
    for (int round = 1; round <= 2; ++round) {
        std::promise<bool> answer;
        waits.await([&](bool stored) { answer.set_value(stored); });
        if (round == 1) {
            silent.accept();
        }
        CHECK_FALSE(answer.get_future().get());
        CHECK(waits.missed() == static_cast<std::uint64_t>(round));
        // The question has not been given up for that.
        CHECK(silent.client_waits());
    }
    silent.close();
    waits.stop();
    bool stored = true;
    waits.await([&](bool known) { stored = known; });
    CHECK_FALSE(stored);
}

TEST_SUITE_END();

}  // namespace weir::migration
