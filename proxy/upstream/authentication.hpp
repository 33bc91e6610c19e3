// Answers what a server asks before it lets a user in: nothing, a password, md5 or SCRAM-SHA-256.
// Pure: the nonce comes in, messages go in and out.
#pragma once

#include "protocol/auth.hpp"
#include "protocol/backend.hpp"
#include "protocol/scram_client.hpp"
#include "proxy/error.hpp"
#include "proxy/scram_cache.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::proxy::upstream {

// Why a log-in cannot go on; `hint` says what to change in the configuration.
struct login_problem {
    errc code = errc::server_protocol;
    std::string text;
    std::string hint;
};

class authenticator {
public:
    struct options {
        std::string user;
        std::string secret;      // as in the configuration; empty: none
        std::string nonce;       // for SCRAM, printable, fresh
        bool encrypted = false;  // the connection has TLS
    };

    // `cache` must outlive this object.
    authenticator(options given, scram_cache& cache);

    // Appends the answer to the request, if one is due. server_refused: the configuration lacks
    // what is asked for, or it would be sent in a form that gives it away. server_protocol: the
    // server asks out of turn, or does not know the password itself.
    [[nodiscard]] std::optional<login_problem>
    on_request(const protocol::backend::authentication& request, std::vector<std::uint8_t>& out);

    // The server has asked for something or let us in.
    [[nodiscard]] bool begun() const noexcept { return begun_; }

    // AuthenticationOk has come, and with SCRAM the server's proof before it.
    [[nodiscard]] bool done() const noexcept { return state_ == state::done; }

private:
    enum class state : std::uint8_t {
        waiting,
        answered,
        challenge_due,
        signature_due,
        verified,
        done
    };
    using problem = std::optional<login_problem>;

    [[nodiscard]] problem on_cleartext(std::vector<std::uint8_t>& out);
    [[nodiscard]] problem on_md5(std::string_view salt, std::vector<std::uint8_t>& out);
    [[nodiscard]] problem
    on_sasl(const protocol::backend::authentication& request, std::vector<std::uint8_t>& out);
    [[nodiscard]] problem on_challenge(std::string_view data, std::vector<std::uint8_t>& out);
    [[nodiscard]] problem on_signature(std::string_view data);
    [[nodiscard]] problem on_ok();
    // Whether the secret will do; otherwise what is missing.
    [[nodiscard]] problem check_secret(protocol::login_method method, std::string_view name) const;
    [[nodiscard]] problem from_library(const protocol::error_code& ec) const;

    options given_;
    scram_cache& cache_;
    protocol::secret secret_;
    bool damaged_ = false;  // the secret begins like a SCRAM verifier and is none
    protocol::scram_client scram_;
    state state_ = state::waiting;
    bool begun_ = false;
};

}  // namespace weir::proxy::upstream
