#include "proxy/client/password_exchange.hpp"

#include "protocol/backend.hpp"
#include "protocol/frontend.hpp"
#include "protocol/scram_message.hpp"

#include <cassert>
#include <utility>

namespace weir::proxy::client {
namespace {

using protocol::as_bytes;
using protocol::backend::authentication_kind;
using form = protocol::secret::form;

void ask(std::vector<std::uint8_t>& out, authentication_kind method, std::string_view data) {
    protocol::byte_writer writer(out);
    const protocol::backend::authentication request{.method = method, .data = data};
    request.encode(writer);
}

// The mechanisms we offer, as AuthenticationSASL lists them.
std::string mechanisms() {
    std::string list(protocol::scram_sha_256);
    list.append(2, '\0');
    return list;
}

}  // namespace

password_exchange::password_exchange(
    config::auth_method method,
    std::string_view user,
    std::optional<std::string_view> stored,
    exchange_randomness randomness
)
    : method_(method), user_(user), randomness_(std::move(randomness)) {
    assert(method == config::auth_method::md5 || method == config::auth_method::scram_sha_256);
    if (!stored) {
        no_chance_ = "no such user";
        return;
    }
    auto parsed = protocol::secret::parse(*stored);
    if (!parsed) {
        no_chance_ = "the user's secret in the configuration is a damaged SCRAM verifier";
        return;
    }
    secret_ = std::move(*parsed);
    text_ = *stored;
    if (method == config::auth_method::md5 && secret_.kind() == form::scram) {
        method_ = config::auth_method::scram_sha_256;
    }
    const bool md5 = method_ == config::auth_method::md5;
    if (!secret_.can_check(
            md5 ? protocol::login_method::md5 : protocol::login_method::scram_sha_256
        )) {
        no_chance_ = secret_.kind() == form::none
                         ? "the user has no password in the configuration"
                         : "the user's secret in the configuration is an md5 hash, which does not "
                           "serve for scram-sha-256";
    }
}

exchange_step password_exchange::begin(scram_cache& cache, std::vector<std::uint8_t>& out) {
    assert(state_ == state::not_begun);
    if (method_ == config::auth_method::md5) {
        state_ = state::md5_asked;
        ask(out, authentication_kind::md5_password, randomness_.md5_salt);
        return exchange_step::more;
    }
    return begin_scram(cache, out);
}

exchange_step password_exchange::begin_scram(scram_cache& cache, std::vector<std::uint8_t>& out) {
    bool genuine = false;
    auto expected = verifier(cache, genuine);
    if (!expected) {
        return scram_failed(expected.error());
    }
    protocol::scram_server_options options;
    options.verifier = std::move(*expected);
    options.genuine = genuine;
    options.nonce = randomness_.nonce;
    scram_.emplace(std::move(options));
    state_ = state::mechanism_asked;
    ask(out, authentication_kind::sasl, mechanisms());
    return exchange_step::more;
}

protocol::result<protocol::scram_verifier>
password_exchange::verifier(scram_cache& cache, bool& genuine) {
    // The salt of a plain password is that of the mock, so that it stays the same when a user is
    // added or removed.
    auto mock = protocol::mock_verifier(user_, as_bytes(randomness_.process_secret));
    if (!mock || !no_chance_.empty()) {
        return mock;
    }
    genuine = true;
    if (secret_.kind() == form::scram) {
        return *secret_.verifier();
    }
    const auto keys = cache.keys(text_, mock->salt, mock->iterations);
    if (!keys) {
        return keys.error();
    }
    return keys->verifier;
}

exchange_step password_exchange::answer(protocol::byte_span body, std::vector<std::uint8_t>& out) {
    switch (state_) {
    case state::md5_asked: return on_md5(body);
    case state::mechanism_asked: return on_mechanism(body, out);
    case state::first_asked: {
        const auto response = protocol::frontend::sasl_response::decode(body);
        return response ? on_first(response->data, out) : scram_failed(response.error());
    }
    case state::final_asked: return on_final(body, out);
    case state::not_begun:
    case state::over: break;
    }
    return fail(
        protocol::sqlstates::protocol_violation,
        "unexpected password message",
        "unexpected password message"
    );
}

exchange_step password_exchange::on_md5(protocol::byte_span body) {
    const auto given = protocol::frontend::password::decode(body);
    if (!given) {
        return fail(
            protocol::sqlstates::protocol_violation,
            "invalid password packet size",
            "malformed password message"
        );
    }
    const auto check_ec = secret_.check_md5(user_, randomness_.md5_salt, given->value);
    if (check_ec == protocol::errc::crypto) {
        return scram_failed(check_ec);
    }
    if (check_ec || !no_chance_.empty()) {
        return wrong_password();
    }
    state_ = state::over;
    return exchange_step::passed;
}

exchange_step
password_exchange::on_mechanism(protocol::byte_span body, std::vector<std::uint8_t>& out) {
    const auto response = protocol::frontend::sasl_initial_response::decode(body);
    if (!response) {
        return scram_failed(response.error());
    }
    if (response->mechanism != protocol::scram_sha_256) {
        return fail(
            protocol::sqlstates::protocol_violation,
            "client selected an invalid SASL authentication mechanism",
            "unknown SASL mechanism"
        );
    }
    if (!response->has_data) {
        state_ = state::first_asked;
        ask(out, authentication_kind::sasl_continue, {});
        return exchange_step::more;
    }
    return on_first(response->data, out);
}

exchange_step password_exchange::on_first(std::string_view data, std::vector<std::uint8_t>& out) {
    const auto challenge = scram_->first_message(data);
    if (!challenge) {
        return scram_failed(challenge.error());
    }
    state_ = state::final_asked;
    ask(out, authentication_kind::sasl_continue, *challenge);
    return exchange_step::more;
}

exchange_step
password_exchange::on_final(protocol::byte_span body, std::vector<std::uint8_t>& out) {
    const auto response = protocol::frontend::sasl_response::decode(body);
    if (!response) {
        return scram_failed(response.error());
    }
    const auto signature = scram_->final_message(response->data);
    if (!signature) {
        return scram_failed(signature.error());
    }
    state_ = state::over;
    ask(out, authentication_kind::sasl_final, *signature);
    return exchange_step::passed;
}

exchange_step password_exchange::wrong_password() {
    return fail(
        protocol::sqlstates::invalid_password,
        "password authentication failed for user \"" + user_ + "\"",
        no_chance_.empty() ? "wrong password" : no_chance_
    );
}

exchange_step password_exchange::scram_failed(const protocol::error_code& ec) {
    if (ec == protocol::errc::scram_bad_proof) {
        return wrong_password();
    }
    if (ec == protocol::errc::scram_channel_binding) {
        return fail(
            protocol::sqlstates::invalid_authorization,
            "SCRAM channel binding negotiation error",
            ec.message()
        );
    }
    if (ec == protocol::errc::scram_unsupported) {
        return fail(
            protocol::sqlstates::feature_not_supported,
            "client uses a SCRAM extension or authorization identity, but it is not supported",
            ec.message()
        );
    }
    if (ec == protocol::errc::crypto) {
        return fail(
            protocol::sqlstates::internal_error,
            "password authentication is not possible",
            ec.message()
        );
    }
    return fail(protocol::sqlstates::protocol_violation, "malformed SCRAM message", ec.message());
}

exchange_step
password_exchange::fail(protocol::sqlstate code, std::string message, std::string reason) {
    state_ = state::over;
    why_.told = protocol::diagnostic{
        .level = protocol::severity::fatal,
        .code = code,
        .message = std::move(message),
        .detail = {},
        .hint = {}};
    why_.reason = std::move(reason);
    why_.delayed = true;
    return exchange_step::failed;
}

}  // namespace weir::proxy::client
