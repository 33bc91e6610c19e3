#include "proxy/client/password_exchange.hpp"

#include "protocol/backend.hpp"
#include "protocol/frontend.hpp"
#include "protocol/md5.hpp"
#include "protocol/scram_client.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace weir::proxy::client {
namespace {

using buffer = std::vector<std::uint8_t>;
using config::auth_method;
using protocol::backend::authentication_kind;

exchange_randomness randomness() {
    exchange_randomness made;
    made.process_secret = "process secret";
    made.nonce = "server-nonce";
    made.md5_salt = "salt";
    return made;
}

template <class Message>
buffer body_of(const Message& message) {
    buffer whole;
    protocol::byte_writer writer(whole);
    message.encode(writer);
    return {whole.begin() + 5, whole.end()};
}

// The one authentication request in `out`, which is emptied.
struct request {
    authentication_kind method = authentication_kind::ok;
    std::string data;
};

request take(buffer& out) {
    REQUIRE(out.size() >= 5);
    const auto decoded =
        protocol::backend::authentication::decode(protocol::byte_span(out).subspan(5));
    REQUIRE(decoded.has_value());
    request found{decoded->method, std::string(decoded->data)};
    out.clear();
    return found;
}

struct result_of_exchange {
    exchange_step step = exchange_step::more;
    std::string salt;
    bool server_proved = false;
    rejection why;
};

// Plays a client that uses `password`.
result_of_exchange
play_scram(auth_method method, std::optional<std::string_view> stored, std::string_view password) {
    scram_cache cache;
    password_exchange exchange(method, "ann", stored, randomness());
    result_of_exchange outcome;
    buffer out;
    REQUIRE(exchange.begin(cache, out) == exchange_step::more);
    CHECK(exchange.sasl());
    const auto sasl = take(out);
    CHECK(sasl.method == authentication_kind::sasl);
    CHECK(sasl.data == std::string("SCRAM-SHA-256\0\0", 15));
    protocol::scram_client client("client-nonce");
    const auto first = client.first_message();
    const auto initial = body_of(protocol::frontend::sasl_initial_response{
        .mechanism = "SCRAM-SHA-256",
        .has_data = true,
        .data = first});
    REQUIRE(exchange.answer(initial, out) == exchange_step::more);
    const auto challenge = client.read_challenge(take(out).data);
    REQUIRE(challenge.has_value());
    outcome.salt = challenge->salt;
    const auto keys = protocol::derive_keys(password, challenge->salt, challenge->iterations);
    REQUIRE(keys.has_value());
    const auto final = client.final_message(*keys);
    REQUIRE(final.has_value());
    outcome.step = exchange.answer(body_of(protocol::frontend::sasl_response{.data = *final}), out);
    if (outcome.step == exchange_step::passed) {
        const auto last = take(out);
        CHECK(last.method == authentication_kind::sasl_final);
        outcome.server_proved = !client.check_server(last.data);
    }
    CHECK(out.empty());
    outcome.why = exchange.why();
    return outcome;
}

exchange_step play_md5(std::optional<std::string_view> stored, std::string_view password) {
    scram_cache cache;
    password_exchange exchange(auth_method::md5, "ann", stored, randomness());
    buffer out;
    REQUIRE(exchange.begin(cache, out) == exchange_step::more);
    CHECK_FALSE(exchange.sasl());
    const auto asked = take(out);
    CHECK(asked.method == authentication_kind::md5_password);
    CHECK(asked.data == "salt");
    const auto secret = protocol::make_md5_secret(password, "ann");
    REQUIRE(secret.has_value());
    const auto answer = protocol::md5_answer(*secret, asked.data);
    REQUIRE(answer.has_value());
    const auto step = exchange.answer(body_of(protocol::frontend::password{.value = *answer}), out);
    CHECK(out.empty());
    if (step == exchange_step::failed) {
        REQUIRE(exchange.why().told.has_value());
        CHECK(exchange.why().told->message == "password authentication failed for user \"ann\"");
        CHECK(exchange.why().told->code == protocol::sqlstates::invalid_password);
    }
    return step;
}

std::string verifier_of(std::string_view password) {
    return protocol::derive_keys(password, "0123456789abcdef", 4096)->verifier.text();
}

void check_refused(const result_of_exchange& outcome, const std::string& reason) {
    CHECK(outcome.step == exchange_step::failed);
    REQUIRE(outcome.why.told.has_value());
    CHECK(outcome.why.told->level == protocol::severity::fatal);
    CHECK(outcome.why.told->code == protocol::sqlstates::invalid_password);
    CHECK(outcome.why.told->message == "password authentication failed for user \"ann\"");
    CHECK(outcome.why.delayed);
    CHECK(outcome.why.reason == reason);
}

TEST_SUITE_BEGIN("proxy.password_exchange");

TEST_CASE("the right password passes and the server proves itself") {
    const auto verifier = verifier_of("pencil");
    for (const auto method : {auth_method::scram_sha_256, auth_method::md5}) {
        const auto outcome = play_scram(method, verifier, "pencil");
        CHECK(outcome.step == exchange_step::passed);
        CHECK(outcome.server_proved);
    }
    const auto plain = play_scram(
        auth_method::scram_sha_256,
        "p%41ss+w*o$r(d)&@:/?#[]'\"\\",
        "p%41ss+w*o$r(d)&@:/?#[]'\"\\"
    );
    CHECK(plain.step == exchange_step::passed);
    CHECK(plain.server_proved);
}

TEST_CASE("B68 a wrong password is refused however it is stored") {
    const auto verifier = verifier_of("pencil");
    check_refused(play_scram(auth_method::scram_sha_256, verifier, "eraser"), "wrong password");
    check_refused(play_scram(auth_method::scram_sha_256, "pencil", "eraser"), "wrong password");
    check_refused(play_scram(auth_method::scram_sha_256, "pencil", ""), "wrong password");
    check_refused(play_scram(auth_method::md5, verifier, "eraser"), "wrong password");
}

TEST_CASE("a user who cannot log in runs through the whole exchange") {
    const auto md5 = *protocol::make_md5_secret("pencil", "ann");
    check_refused(play_scram(auth_method::scram_sha_256, std::nullopt, "pencil"), "no such user");
    check_refused(
        play_scram(auth_method::scram_sha_256, "", ""),
        "the user has no password in the configuration"
    );
    check_refused(
        play_scram(auth_method::scram_sha_256, md5, "pencil"),
        "the user's secret in the configuration is an md5 hash, which does not serve for "
        "scram-sha-256"
    );
    check_refused(
        play_scram(auth_method::scram_sha_256, "SCRAM-SHA-256$4096:", "SCRAM-SHA-256$4096:"),
        "the user's secret in the configuration is a damaged SCRAM verifier"
    );
}

TEST_CASE("the salt does not tell whether a user exists") {
    const auto known = play_scram(auth_method::scram_sha_256, "pencil", "pencil");
    const auto unknown = play_scram(auth_method::scram_sha_256, std::nullopt, "pencil");
    CHECK(known.salt == unknown.salt);
    CHECK(known.salt.size() == protocol::scram_default_salt);
}

TEST_CASE("md5 serves plain passwords and md5 hashes") {
    const auto md5 = *protocol::make_md5_secret("pencil", "ann");
    CHECK(play_md5("pencil", "pencil") == exchange_step::passed);
    CHECK(play_md5(md5, "pencil") == exchange_step::passed);
    CHECK(play_md5("pencil", "eraser") == exchange_step::failed);
    CHECK(play_md5(md5, "eraser") == exchange_step::failed);
    CHECK(play_md5(std::nullopt, "pencil") == exchange_step::failed);
    CHECK(play_md5("", "") == exchange_step::failed);
}

TEST_CASE("a client may name its mechanism first and begin after an empty challenge") {
    scram_cache cache;
    password_exchange exchange(auth_method::scram_sha_256, "ann", "pencil", randomness());
    buffer out;
    REQUIRE(exchange.begin(cache, out) == exchange_step::more);
    out.clear();
    const auto alone = body_of(protocol::frontend::sasl_initial_response{
        .mechanism = "SCRAM-SHA-256",
        .has_data = false,
        .data = {}});
    REQUIRE(exchange.answer(alone, out) == exchange_step::more);
    const auto empty = take(out);
    CHECK(empty.method == authentication_kind::sasl_continue);
    CHECK(empty.data.empty());
    REQUIRE(
        exchange.answer(body_of(protocol::frontend::sasl_response{.data = "n,,n=,r=abc"}), out) ==
        exchange_step::more
    );
    CHECK(take(out).data.starts_with("r=abcserver-nonce,s="));
}

TEST_CASE("what is no SCRAM is a protocol violation and nothing passes after it") {
    const std::vector<buffer> bad{
        {},
        body_of(protocol::frontend::sasl_response{.data = "n,,n=,r=abc"}),
        body_of(protocol::frontend::sasl_initial_response{
            .mechanism = "SCRAM-SHA-1",
            .has_data = true,
            .data = "n,,n=,r=abc"}),
        body_of(protocol::frontend::sasl_initial_response{
            .mechanism = "SCRAM-SHA-256",
            .has_data = true,
            .data = "xyz"}),
    };
    for (std::size_t i = 0; i < bad.size(); ++i) {
        CAPTURE(i);
        scram_cache cache;
        password_exchange exchange(auth_method::scram_sha_256, "ann", "pencil", randomness());
        buffer out;
        REQUIRE(exchange.begin(cache, out) == exchange_step::more);
        out.clear();
        CHECK(exchange.answer(bad[i], out) == exchange_step::failed);
        CHECK(out.empty());
        REQUIRE(exchange.why().told.has_value());
        CHECK(exchange.why().told->code == protocol::sqlstates::protocol_violation);
        const auto right = body_of(protocol::frontend::sasl_initial_response{
            .mechanism = "SCRAM-SHA-256",
            .has_data = true,
            .data = "n,,n=,r=abc"});
        CHECK(exchange.answer(right, out) == exchange_step::failed);
        CHECK(out.empty());
    }
}

TEST_SUITE_END();

}  // namespace
}  // namespace weir::proxy::client
