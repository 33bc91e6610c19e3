#include "proxy/upstream/authentication.hpp"

#include "protocol/frontend.hpp"
#include "protocol/scram_message.hpp"

#include <utility>

namespace weir::proxy::upstream {
namespace {

using protocol::login_method;
using protocol::backend::authentication_kind;

login_problem out_of_turn(std::string what) {
    return {.code = errc::server_protocol, .text = std::move(what), .hint = {}};
}

}  // namespace

authenticator::authenticator(options given, scram_cache& cache)
    : given_(std::move(given)), cache_(cache), scram_(given_.nonce) {
    auto parsed = protocol::secret::parse(given_.secret);
    damaged_ = !parsed;
    if (parsed) {
        secret_ = std::move(*parsed);
    }
}

std::optional<login_problem> authenticator::on_request(
    const protocol::backend::authentication& request,
    std::vector<std::uint8_t>& out
) {
    const bool first = state_ == state::waiting;
    begun_ = true;
    switch (request.method) {
    case authentication_kind::ok: return on_ok();
    case authentication_kind::cleartext_password:
        return first ? on_cleartext(out) : out_of_turn("asks for a second password");
    case authentication_kind::md5_password:
        return first ? on_md5(request.data, out) : out_of_turn("asks for a second password");
    case authentication_kind::sasl:
        return first ? on_sasl(request, out) : out_of_turn("asks for a second password");
    case authentication_kind::sasl_continue:
        return state_ == state::challenge_due ? on_challenge(request.data, out)
                                              : out_of_turn("sends a SASL challenge out of turn");
    case authentication_kind::sasl_final:
        return state_ == state::signature_due ? on_signature(request.data)
                                              : out_of_turn("sends a SASL result out of turn");
    }
    return out_of_turn("asks for an unknown kind of authentication");
}

authenticator::problem authenticator::check_secret(login_method method, std::string_view name)
    const {
    if (secret_.can_answer(method)) {
        return std::nullopt;
    }
    std::string has;
    if (damaged_) {
        has = "the secret in the configuration is a damaged SCRAM verifier";
    } else if (secret_.kind() == protocol::secret::form::scram) {
        has = "the configuration has a SCRAM verifier only, which cannot be used to log in";
    } else if (secret_.kind() == protocol::secret::form::md5) {
        has = "the configuration has an md5 hash only";
    } else {
        has = "the configuration has none";
    }
    return login_problem{
        .code = errc::server_refused,
        .text = "the server asks for the password of user \"" + given_.user + "\" (" +
                std::string(name) + "), and " + has,
        .hint = "Give the user's password as plain text under users."};
}

authenticator::problem authenticator::from_library(const protocol::error_code& ec) const {
    return login_problem{
        .code = errc::server_protocol,
        .text = "authentication of user \"" + given_.user + "\" failed: " + ec.message(),
        .hint = {}};
}

authenticator::problem authenticator::on_cleartext(std::vector<std::uint8_t>& out) {
    if (!given_.encrypted) {
        return login_problem{
            .code = errc::server_refused,
            .text = "the server asks for the password of user \"" + given_.user +
                    "\" in clear text over a connection without TLS",
            .hint =
                "Set tls.mode of the cluster to require, or change the server's pg_hba.conf to "
                "scram-sha-256."};
    }
    if (auto missing = check_secret(login_method::cleartext, "clear text")) {
        return missing;
    }
    const auto answer = secret_.cleartext_answer();
    if (!answer) {
        return from_library(answer.error());
    }
    protocol::byte_writer writer(out);
    const protocol::frontend::password message{.value = *answer};
    message.encode(writer);
    state_ = state::answered;
    return std::nullopt;
}

authenticator::problem
authenticator::on_md5(std::string_view salt, std::vector<std::uint8_t>& out) {
    if (auto missing = check_secret(login_method::md5, "md5")) {
        return missing;
    }
    const auto answer = secret_.md5_answer(given_.user, salt);
    if (!answer) {
        return from_library(answer.error());
    }
    protocol::byte_writer writer(out);
    const protocol::frontend::password message{.value = *answer};
    message.encode(writer);
    state_ = state::answered;
    return std::nullopt;
}

authenticator::problem authenticator::on_sasl(
    const protocol::backend::authentication& request,
    std::vector<std::uint8_t>& out
) {
    if (!request.offers(protocol::scram_sha_256)) {
        return login_problem{
            .code = errc::server_refused,
            .text = "the server offers no SASL mechanism that pgweir speaks (SCRAM-SHA-256)",
            .hint = {}};
    }
    if (auto missing = check_secret(login_method::scram_sha_256, "scram-sha-256")) {
        return missing;
    }
    const auto first = scram_.first_message();
    protocol::byte_writer writer(out);
    const protocol::frontend::sasl_initial_response message{
        .mechanism = protocol::scram_sha_256,
        .has_data = true,
        .data = first};
    message.encode(writer);
    state_ = state::challenge_due;
    return std::nullopt;
}

authenticator::problem
authenticator::on_challenge(std::string_view data, std::vector<std::uint8_t>& out) {
    const auto challenge = scram_.read_challenge(data);
    if (!challenge) {
        return from_library(challenge.error());
    }
    const auto keys = cache_.keys(given_.secret, challenge->salt, challenge->iterations);
    if (!keys) {
        return from_library(keys.error());
    }
    const auto final = scram_.final_message(*keys);
    if (!final) {
        return from_library(final.error());
    }
    protocol::byte_writer writer(out);
    const protocol::frontend::sasl_response message{.data = *final};
    message.encode(writer);
    state_ = state::signature_due;
    return std::nullopt;
}

authenticator::problem authenticator::on_signature(std::string_view data) {
    if (const auto check_ec = scram_.check_server(data)) {
        return from_library(check_ec);
    }
    state_ = state::verified;
    return std::nullopt;
}

authenticator::problem authenticator::on_ok() {
    // A server that takes the password and skips its own proof does not know the password.
    if (state_ == state::challenge_due || state_ == state::signature_due) {
        return out_of_turn(
            "says that authentication is over before it has proved that it knows the password"
        );
    }
    if (state_ == state::done) {
        return out_of_turn("says twice that authentication is over");
    }
    state_ = state::done;
    return std::nullopt;
}

}  // namespace weir::proxy::upstream
