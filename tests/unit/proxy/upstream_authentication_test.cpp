#include "protocol/frontend.hpp"
#include "protocol/md5.hpp"
#include "protocol/scram_server.hpp"
#include "proxy/upstream/authentication.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace weir::proxy::upstream {
namespace {

using buffer = std::vector<std::uint8_t>;
using protocol::backend::authentication;
using protocol::backend::authentication_kind;

const std::string mechanisms("SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0", 34);

authenticator::options options(std::string secret, bool encrypted = false) {
    authenticator::options made;
    made.user = "ann";
    made.secret = std::move(secret);
    made.nonce = "client-nonce";
    made.encrypted = encrypted;
    return made;
}

authentication request(authentication_kind method, std::string_view data = {}) {
    return {.method = method, .data = data};
}

// The text of the one password message in `out`.
std::string password_in(const buffer& out) {
    REQUIRE(out.size() > 5);
    CHECK(out[0] == 'p');
    return std::string(
        protocol::frontend::password::decode(protocol::byte_span(out).subspan(5))->value
    );
}

std::string verifier_text(std::string_view password) {
    return protocol::derive_keys(password, "0123456789abcdef", 4096)->verifier.text();
}

// A server that holds the verifier of `stored`.
protocol::scram_server server(std::string_view stored) {
    protocol::scram_server_options made;
    made.verifier = protocol::derive_keys(stored, "0123456789abcdef", 4096)->verifier;
    made.nonce = "server-nonce";
    return protocol::scram_server(std::move(made));
}

TEST_SUITE_BEGIN("proxy.upstream_authentication");

TEST_CASE("trust needs no answer") {
    scram_cache cache;
    authenticator login(options(""), cache);
    buffer out;
    CHECK_FALSE(login.begun());
    CHECK_FALSE(login.on_request(request(authentication_kind::ok), out));
    CHECK(login.begun());
    CHECK(login.done());
    CHECK(out.empty());
}

TEST_CASE("md5 is answered from a plain password and from a hash") {
    const auto hash = *protocol::make_md5_secret("pencil", "ann");
    const auto expected = *protocol::md5_answer(hash, "salt");
    for (const auto& secret : {std::string("pencil"), hash}) {
        scram_cache cache;
        authenticator login(options(secret), cache);
        buffer out;
        CHECK_FALSE(login.on_request(request(authentication_kind::md5_password, "salt"), out));
        CHECK(password_in(out) == expected);
        CHECK_FALSE(login.done());
        CHECK_FALSE(login.on_request(request(authentication_kind::ok), out));
        CHECK(login.done());
    }
}

TEST_CASE("clear text is sent inside TLS only") {
    scram_cache cache;
    buffer out;
    authenticator bare(options("pencil"), cache);
    const auto refused = bare.on_request(request(authentication_kind::cleartext_password), out);
    REQUIRE(refused.has_value());
    CHECK(refused->code == errc::server_refused);
    CHECK(out.empty());
    authenticator safe(options("pencil", true), cache);
    CHECK_FALSE(safe.on_request(request(authentication_kind::cleartext_password), out));
    CHECK(password_in(out) == "pencil");
}

TEST_CASE("SCRAM goes through when both know the password") {
    scram_cache cache;
    authenticator login(options("pencil"), cache);
    auto peer = server("pencil");
    buffer out;
    REQUIRE_FALSE(login.on_request(request(authentication_kind::sasl, mechanisms), out));
    const auto initial =
        protocol::frontend::sasl_initial_response::decode(protocol::byte_span(out).subspan(5));
    REQUIRE(initial.has_value());
    CHECK(initial->mechanism == "SCRAM-SHA-256");
    const auto challenge = peer.first_message(initial->data);
    REQUIRE(challenge.has_value());
    out.clear();
    REQUIRE_FALSE(login.on_request(request(authentication_kind::sasl_continue, *challenge), out));
    const auto final = peer.final_message(protocol::as_text(protocol::byte_span(out).subspan(5)));
    REQUIRE(final.has_value());
    REQUIRE_FALSE(login.on_request(request(authentication_kind::sasl_final, *final), out));
    CHECK_FALSE(login.done());
    REQUIRE_FALSE(login.on_request(request(authentication_kind::ok), out));
    CHECK(login.done());
    CHECK(cache.size() == 1);
}

TEST_CASE("a server that does not prove itself is not believed") {
    scram_cache cache;
    auto peer = server("pencil");
    for (int stage = 0; stage < 3; ++stage) {
        CAPTURE(stage);
        authenticator login(options("pencil"), cache);
        buffer out;
        REQUIRE_FALSE(login.on_request(request(authentication_kind::sasl, mechanisms), out));
        if (stage > 0) {
            peer = server("pencil");
            const auto challenge = peer.first_message("n,,n=,r=client-nonce");
            REQUIRE(challenge.has_value());
            REQUIRE_FALSE(
                login.on_request(request(authentication_kind::sasl_continue, *challenge), out)
            );
        }
        const std::string forged = "v=" + std::string(43, 'A') + "=";
        const auto next = stage == 2 ? request(authentication_kind::sasl_final, forged)
                                     : request(authentication_kind::ok);
        const auto refused = login.on_request(next, out);
        REQUIRE(refused.has_value());
        CHECK(refused->code == errc::server_protocol);
        CHECK_FALSE(login.done());
    }
}

TEST_CASE("B65 a missing credential is named at once") {
    struct {
        std::string secret;
        authentication_kind method;
        std::string_view data;
        const char* has;
    } const cases[] = {
        {"", authentication_kind::sasl, mechanisms, "the configuration has none"},
        {"", authentication_kind::md5_password, "salt", "the configuration has none"},
        {verifier_text("pencil"),
         authentication_kind::sasl,
         mechanisms,
         "the configuration has a SCRAM verifier only"},
        {verifier_text("pencil"),
         authentication_kind::md5_password,
         "salt",
         "the configuration has a SCRAM verifier only"},
        {*protocol::make_md5_secret("pencil", "ann"),
         authentication_kind::sasl,
         mechanisms,
         "the configuration has an md5 hash only"},
        {"SCRAM-SHA-256$1",
         authentication_kind::sasl,
         mechanisms,
         "the secret in the configuration is a damaged SCRAM verifier"},
    };

    for (const auto& c : cases) {
        CAPTURE(c.has);
        scram_cache cache;
        authenticator login(options(c.secret), cache);
        buffer out;
        const auto refused = login.on_request(request(c.method, c.data), out);
        REQUIRE(refused.has_value());
        CHECK(refused->code == errc::server_refused);
        CHECK(refused->text.find("user \"ann\"") != std::string::npos);
        CHECK(refused->text.find(c.has) != std::string::npos);
        CHECK(refused->text.find("pencil") == std::string::npos);
        CHECK(out.empty());
    }
}

TEST_CASE("a server that asks out of turn breaks the protocol") {
    const authentication_kind out_of_turn[] = {
        authentication_kind::sasl_continue,
        authentication_kind::sasl_final};
    for (const auto method : out_of_turn) {
        scram_cache cache;
        authenticator login(options("pencil"), cache);
        buffer out;
        const auto refused = login.on_request(request(method, "v="), out);
        REQUIRE(refused.has_value());
        CHECK(refused->code == errc::server_protocol);
    }
    const authentication_kind again[] = {
        authentication_kind::cleartext_password,
        authentication_kind::md5_password,
        authentication_kind::sasl};
    for (const auto method : again) {
        scram_cache cache;
        authenticator login(options("pencil", true), cache);
        buffer out;
        REQUIRE_FALSE(login.on_request(request(authentication_kind::md5_password, "salt"), out));
        const auto size = out.size();
        const auto refused = login.on_request(request(method, "salt"), out);
        REQUIRE(refused.has_value());
        CHECK(refused->code == errc::server_protocol);
        CHECK(out.size() == size);
    }
}

TEST_CASE("a server without a mechanism in common is refused") {
    scram_cache cache;
    authenticator login(options("pencil"), cache);
    buffer out;
    const std::string foreign("GS2-KRB5\0\0", 10);
    const auto refused = login.on_request(request(authentication_kind::sasl, foreign), out);
    REQUIRE(refused.has_value());
    CHECK(refused->code == errc::server_refused);
}

TEST_SUITE_END();

}  // namespace
}  // namespace weir::proxy::upstream
