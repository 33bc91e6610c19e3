// The messages by which a client proves that it knows a password: md5 or SCRAM-SHA-256. A user who
// does not exist, or whose secret does not serve for the method, goes the same way and fails at its
// end. Pure: random bytes come in.
//
//     password_exchange exchange(method, user, secret, randomness, cache);
//     if (exchange.begin(out)) { ... }                  // send `out`
//     while ((step = exchange.answer(body, out)) == exchange_step::more)  // body of a 'p' message;
//     send `out`
#pragma once

#include "config/config.hpp"
#include "protocol/auth.hpp"
#include "protocol/byte_reader.hpp"
#include "protocol/scram_server.hpp"
#include "proxy/client/rejection.hpp"
#include "proxy/scram_cache.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::proxy::client {

struct exchange_randomness {
    std::string process_secret;  // the same for all log-ins of this process: salts are made from it
    std::string nonce;           // for SCRAM, printable; fresh
    std::string md5_salt;        // 4 bytes, fresh
};

enum class exchange_step : std::uint8_t { more, passed, failed };

class password_exchange {
public:
    // `stored`: the user's secret from the configuration; none for a user who is not there.
    // `method`: md5 or scram_sha_256; with md5 a user whose secret is a SCRAM verifier is asked for
    // SCRAM, as by PostgreSQL. `cache` must live as long as begin() runs.
    password_exchange(
        config::auth_method method,
        std::string_view user,
        std::optional<std::string_view> stored,
        exchange_randomness randomness
    );

    // Appends the request. `failed` only if OpenSSL refuses.
    [[nodiscard]] exchange_step begin(scram_cache& cache, std::vector<std::uint8_t>& out);
    // Judges the client's message, and appends what comes next; AuthenticationOk is not part of it.
    [[nodiscard]] exchange_step answer(protocol::byte_span body, std::vector<std::uint8_t>& out);

    // The client's messages belong to SASL, not to a password.
    [[nodiscard]] bool sasl() const noexcept {
        return method_ == config::auth_method::scram_sha_256;
    }

    // After `failed`.
    [[nodiscard]] const rejection& why() const noexcept { return why_; }

private:
    enum class state : std::uint8_t {
        not_begun,
        md5_asked,
        mechanism_asked,
        first_asked,
        final_asked,
        over
    };

    [[nodiscard]] exchange_step begin_scram(scram_cache& cache, std::vector<std::uint8_t>& out);
    [[nodiscard]] exchange_step on_md5(protocol::byte_span body);
    [[nodiscard]] exchange_step
    on_mechanism(protocol::byte_span body, std::vector<std::uint8_t>& out);
    [[nodiscard]] exchange_step on_first(std::string_view data, std::vector<std::uint8_t>& out);
    [[nodiscard]] exchange_step on_final(protocol::byte_span body, std::vector<std::uint8_t>& out);
    // The verifier that the client is checked against, and whether it can succeed.
    [[nodiscard]] protocol::result<protocol::scram_verifier>
    verifier(scram_cache& cache, bool& genuine);
    [[nodiscard]] exchange_step wrong_password();
    [[nodiscard]] exchange_step scram_failed(const protocol::error_code& ec);
    [[nodiscard]] exchange_step
    fail(protocol::sqlstate code, std::string message, std::string reason);

    config::auth_method method_;
    std::string user_;
    std::string text_;       // of the secret
    std::string no_chance_;  // why no password will do; empty: one will
    protocol::secret secret_;
    exchange_randomness randomness_;
    std::optional<protocol::scram_server> scram_;
    rejection why_;
    state state_ = state::not_begun;
};

}  // namespace weir::proxy::client
