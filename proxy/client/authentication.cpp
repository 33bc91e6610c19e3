#include "proxy/client/authentication.hpp"

#include "protocol/backend.hpp"
#include "protocol/base64.hpp"
#include "proxy/client/password_exchange.hpp"
#include "proxy/client/rules.hpp"
#include "proxy/login_message.hpp"
#include "proxy/random_bytes.hpp"
#include "proxy/worker_context.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::proxy::client {
namespace {

constexpr std::size_t process_secret_size = 32;
constexpr std::size_t nonce_size = 18;
constexpr std::size_t md5_salt_size = 4;

rejection no_entry(std::string_view what, const peer_address& address, const login_outcome& who) {
    rejection made;
    made.told = protocol::diagnostic{
        .level = protocol::severity::fatal,
        .code = protocol::sqlstates::invalid_authorization,
        .message = std::string(what) + " host \"" + (address.local ? "[local]" : address.ip) +
                   "\", user \"" + who.user + "\", database \"" + who.database + "\"",
        .detail = {},
        .hint = {}};
    made.reason = what == "no authentication rule for" ? "no authentication rule fits"
                                                       : "an authentication rule says reject";
    made.delayed = true;
    return made;
}

rejection no_randomness() {
    rejection made;
    made.told = protocol::diagnostic{
        .level = protocol::severity::fatal,
        .code = protocol::sqlstates::internal_error,
        .message = "could not generate random numbers for authentication",
        .detail = {},
        .hint = {}};
    made.reason = "OpenSSL gives no random numbers";
    return made;
}

std::optional<std::string_view> stored_secret(const config::config& from, std::string_view user) {
    const auto found =
        std::find_if(from.users.begin(), from.users.end(), [&](const config::user& each) {
            return each.name == user;
        });
    return found == from.users.end() ? std::nullopt
                                     : std::optional<std::string_view>(found->secret);
}

// One per process, made at its first use, so that all workers answer alike.
const protocol::result<std::string>& process_secret() {
    static const auto made = random_bytes(process_secret_size);
    return made;
}

std::optional<exchange_randomness> make_randomness() {
    const auto& secret = process_secret();
    const auto nonce = random_bytes(nonce_size);
    auto salt = random_bytes(md5_salt_size);
    if (!secret || !nonce || !salt) {
        return std::nullopt;
    }
    return exchange_randomness{
        .process_secret = *secret,
        .nonce = protocol::base64_encode(protocol::as_bytes(*nonce)),
        .md5_salt = std::move(*salt)};
}

// What is wrong with a message that did not come.
rejection bad_message(const login_message& message, bool sasl) {
    rejection made;
    if (message.ec == protocol::errc::unexpected_message) {
        const auto type = static_cast<int>(static_cast<unsigned char>(message.type));
        made.told = protocol::diagnostic{
            .level = protocol::severity::fatal,
            .code = protocol::sqlstates::protocol_violation,
            .message = std::string("expected ") + (sasl ? "SASL" : "password") +
                       " response, got message type " + std::to_string(type),
            .detail = {},
            .hint = {}};
        made.reason = made.told->message;
    } else if (message.ec == protocol::errc::bad_length) {
        made.reason = "impossible message length during authentication";
    }
    return made;
}

asio::awaitable<std::optional<rejection>>
run(scram_cache& cache, password_exchange& exchange, stream& peer, input_buffer& input) {
    std::vector<std::uint8_t> out;
    auto step = exchange.begin(cache, out);
    while (step == exchange_step::more) {
        peer.write(out);
        peer.flush();
        out.clear();
        const auto message = co_await read_login_message(peer, input, "p");
        if (message.ec) {
            co_return bad_message(message, exchange.sasl());
        }
        step = exchange.answer(message.body, out);
    }
    if (step == exchange_step::failed) {
        co_return exchange.why();
    }
    peer.write(out);
    co_return std::nullopt;
}

void write_ok(stream& peer) {
    std::vector<std::uint8_t> out;
    protocol::byte_writer writer(out);
    protocol::backend::authentication{}.encode(writer);
    peer.write(out);
}

}  // namespace

asio::awaitable<std::optional<rejection>> authenticate(
    worker_context& worker,
    stream& peer,
    input_buffer& input,
    const peer_address& address,
    const login_outcome& who
) {
    const auto settings = worker.config;  // a reload must not take it away meanwhile
    candidate client;
    client.database = who.database;
    client.user = who.user;
    client.ip = address.ip;
    client.local = address.local;
    const auto method = find_method(settings->authentication, client);
    if (!method) {
        co_return no_entry("no authentication rule for", address, who);
    }
    if (*method == config::auth_method::reject) {
        co_return no_entry("authentication rule rejects connection for", address, who);
    }
    if (*method == config::auth_method::trust) {
        write_ok(peer);
        co_return std::nullopt;
    }
    auto randomness = make_randomness();
    if (!randomness) {
        co_return no_randomness();
    }
    const auto secret = stored_secret(*settings, who.user);
    password_exchange exchange(*method, who.user, secret, std::move(*randomness));
    auto refused = co_await run(worker.scram, exchange, peer, input);
    if (!refused) {
        write_ok(peer);
    }
    co_return refused;
}

}  // namespace weir::proxy::client
