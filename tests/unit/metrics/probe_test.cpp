#include "metrics/probe.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <tuple>

using namespace weir::metrics;
using namespace std::chrono_literals;

namespace {

std::map<std::string, std::uint64_t> counts_of(const error_table& errors) {
    std::map<std::string, std::uint64_t> counts;
    errors.each([&](const std::string& name, std::string_view origin, std::uint64_t n) {
        counts[name + "/" + std::string(origin)] = n;
    });
    return counts;
}

}  // namespace

TEST_SUITE_BEGIN("metrics.probe");

TEST_CASE("errors count by class and origin and watched classes start at nought") {
    error_table errors;
    errors.add("42P01", error_origin::server);
    errors.add("42601", error_origin::server);
    errors.add("08P01", error_origin::client);
    errors.add("", error_origin::proxy);
    errors.add("x!000", error_origin::proxy);
    const std::map<std::string, std::uint64_t> expected{
        {"42/server", 2},
        {"other/proxy", 2},
        {"08/client", 1},
        {"08/server", 0},
        {"08/proxy", 0},
        {"28/client", 0},
        {"28/server", 0},
        {"28/proxy", 0},
        {"53/client", 0},
        {"53/server", 0},
        {"53/proxy", 0},
        {"57/client", 0},
        {"57/server", 0},
        {"57/proxy", 0},
    };
    CHECK(counts_of(errors) == expected);
}

TEST_CASE("every first two letters of a SQLSTATE have a count of their own") {
    error_table errors;
    const std::string letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (const char first : letters) {
        for (const char second : letters) {
            errors.add(std::string{first, second} + "000", error_origin::server);
        }
    }
    const auto counts = counts_of(errors);
    CHECK(counts.at("00/server") == 1);
    CHECK(counts.at("ZZ/server") == 1);
    std::size_t ones = 0;
    for (const auto& [name, n] : counts) {
        ones += n == 1 ? 1 : 0;
    }
    CHECK(ones == 36 * 36);
}

TEST_CASE("a client's state moves without loss") {
    worker_probe probe;
    auto& client = probe.client("db", "user");
    client.entered(client_state::login);
    client.moved(client_state::login, client_state::idle);
    client.moved(client_state::idle, client_state::waiting);
    CHECK(client.states[0].value() == 0);
    CHECK(client.states[1].value() == 0);
    CHECK(client.states[3].value() == 1);
    client.left(client_state::waiting);
    CHECK(client.states[3].value() == 0);
}

TEST_SUITE_END();
