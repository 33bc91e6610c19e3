// The server's side of a SCRAM-SHA-256 exchange, towards a client. Pure: verifier and nonce come
// in, messages go in and out, each the data of a SASL message. After an error the exchange is over.
//
//     scram_server server({.verifier = …, .genuine = user_exists, .nonce = …});
//     send(*server.first_message(receive()));    // of SASLInitialResponse, answered by
//     SASLContinue send(*server.final_message(receive()));    // of SASLResponse, answered by
//     SASLFinal
//
// A client may send the mechanism alone; then an empty SASLContinue is due and its first message
// comes next. Source: RFC 5802, RFC 7677; what is refused, and why, follows PostgreSQL.
#pragma once

#include "protocol/error.hpp"
#include "protocol/scram_keys.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::protocol {

struct scram_server_options {
    scram_verifier verifier;
    // False for a mock exchange: all goes its way, but no proof is right.
    bool genuine = true;
    // Printable, without comma, fresh and random for each exchange; 18 random bytes in base64 will
    // do.
    std::string nonce;
    // SCRAM-SHA-256-PLUS was offered to this client; then a client that says it was not is under
    // attack.
    bool plus_offered = false;
    // The client chose SCRAM-SHA-256-PLUS.
    bool plus_chosen = false;
    // For PLUS: the hash of our certificate.
    std::string binding_data;
};

class scram_server {
public:
    explicit scram_server(scram_server_options options);

    // errc::scram_malformed, scram_unsupported (authorization identity, mandatory extension) or
    // scram_channel_binding.
    [[nodiscard]] result<std::string> first_message(std::string_view client_first);
    // errc::scram_bad_proof is a wrong password or a mock exchange.
    [[nodiscard]] result<std::string> final_message(std::string_view client_final);

    // After a final_message that succeeded: with the verifier it makes scram_keys, good for logging
    // in wherever the same verifier is stored.
    [[nodiscard]] const sha256_digest& client_key() const noexcept { return client_key_; }

private:
    enum class state : std::uint8_t { started, challenged, over };

    // Reads the GS2 header; what is left is client-first-message-bare.
    [[nodiscard]] error_code read_header(std::string_view& message);
    [[nodiscard]] error_code read_flag(std::string_view flag);
    [[nodiscard]] result<std::string>
    check_proof(std::string_view proof_text, std::string_view without_proof);

    state state_ = state::started;
    scram_server_options options_;
    std::string gs2_header_;
    std::string client_first_bare_;
    std::string server_first_;
    std::string combined_nonce_;
    sha256_digest client_key_{};
};

}  // namespace weir::protocol
