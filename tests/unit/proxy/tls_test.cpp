#include "proxy/tls.hpp"

#include "proxy/certificate.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

namespace weir::proxy {
namespace {

config::cluster cluster(std::string name, config::tls_mode mode, std::string ca = {}) {
    config::cluster made;
    made.name = std::move(name);
    made.tls.mode = mode;
    made.tls.ca = std::move(ca);
    return made;
}

std::string error_of(const config::config& from) {
    try {
        static_cast<void>(make_tls_contexts(from));
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "no error";
}

TEST_SUITE_BEGIN("proxy.tls");

TEST_CASE("contexts are made for what may use TLS") {
    config::config from;
    from.clusters = {
        cluster("plain", config::tls_mode::disable),
        cluster("safe", config::tls_mode::require)};
    const auto made = make_tls_contexts(from);
    CHECK(made->listener == nullptr);
    CHECK(made->clusters.size() == 1);
    REQUIRE(made->clusters.count("safe") == 1);
    auto* const native = made->clusters.at("safe")->native_handle();
    CHECK(SSL_CTX_get_min_proto_version(native) == TLS1_2_VERSION);
    CHECK(SSL_CTX_get_verify_mode(native) == SSL_VERIFY_NONE);
}

TEST_CASE("errors name the file") {
    config::config from;
    from.clusters = {cluster("main", config::tls_mode::verify_full, "no/such/ca.pem")};
    CHECK(error_of(from) == "TLS: ca 'no/such/ca.pem': No such file or directory");
    from.clusters.clear();
    from.listen.tls.mode = config::tls_mode::prefer;
    from.listen.tls.certificate = "no/such/certificate.pem";
    from.listen.tls.key = "no/such/key.pem";
    CHECK(error_of(from).starts_with("TLS: certificate 'no/such/certificate.pem': "));
}

TEST_CASE("a cluster that verifies needs somebody to trust") {
    config::config from;
    from.clusters = {cluster("main", config::tls_mode::verify_ca)};
    CHECK(error_of(from) == "TLS: cluster main verifies certificates and has no ca");
}

TEST_CASE("addresses are told from names") {
    for (const char* const address : {"127.0.0.1", "::1", "fe80::1"}) {
        CHECK(is_address(address));
    }
    for (const char* const name : {"localhost", "127.0.0.1.example.org", "1.2.3", ""}) {
        CHECK_FALSE(is_address(name));
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace weir::proxy
