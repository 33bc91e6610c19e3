#include "proxy/upstream/transport.hpp"

#include <doctest/doctest.h>

namespace weir::proxy::upstream {
namespace {

using config::tls_mode;

constexpr tls_mode all_modes[] = {
    tls_mode::disable,
    tls_mode::allow,
    tls_mode::prefer,
    tls_mode::require,
    tls_mode::verify_ca,
    tls_mode::verify_full};
constexpr transport all_transports[] = {
    transport::plain,
    transport::tls_if_offered,
    transport::tls};

TEST_SUITE_BEGIN("proxy.transport");

TEST_CASE("the first attempt is that of sslmode") {
    CHECK(first_transport(tls_mode::disable, false) == transport::plain);
    CHECK(first_transport(tls_mode::allow, false) == transport::plain);
    CHECK(first_transport(tls_mode::prefer, false) == transport::tls_if_offered);
    CHECK(first_transport(tls_mode::require, false) == transport::tls);
    CHECK(first_transport(tls_mode::verify_ca, false) == transport::tls);
    CHECK(first_transport(tls_mode::verify_full, false) == transport::tls);
}

TEST_CASE("a Unix socket never has TLS") {
    for (const auto mode : all_modes) {
        CHECK(first_transport(mode, true) == transport::plain);
    }
}

TEST_CASE("only allow and prefer have a second attempt of the other kind") {
    int second_attempts = 0;
    for (const auto mode : all_modes) {
        for (const auto tried : all_transports) {
            for (const bool encrypted : {false, true}) {
                second_attempts += next_transport(mode, tried, encrypted, true).has_value() ? 1 : 0;
                CHECK(next_transport(mode, tried, encrypted, false) == std::nullopt);
            }
        }
    }
    CHECK(second_attempts == 3);
    CHECK(next_transport(tls_mode::allow, transport::plain, false, true) == transport::tls);
    CHECK(next_transport(tls_mode::allow, transport::plain, true, true) == transport::tls);
    CHECK(
        next_transport(tls_mode::prefer, transport::tls_if_offered, true, true) == transport::plain
    );
}

TEST_SUITE_END();

}  // namespace
}  // namespace weir::proxy::upstream
