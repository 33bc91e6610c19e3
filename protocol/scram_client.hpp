// The client's side of a SCRAM-SHA-256 exchange, towards a server. Pure: the nonce comes in,
// messages go in and out, each the data of a SASL message. After an error the exchange is over.
//
//     scram_client client(nonce);
//     send(client.first_message());
//     const auto challenge = client.read_challenge(receive());     // AuthenticationSASLContinue
//     keys = look up (challenge->salt, challenge->iterations), or derive_keys(password, …);
//     send(*client.final_message(keys));
//     const auto ec = client.check_server(receive());              // AuthenticationSASLFinal
//
// Source: RFC 5802, RFC 7677; channel binding RFC 5929 section 4.
#pragma once

#include "protocol/error.hpp"
#include "protocol/scram_keys.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::protocol {

// What the client says about channel binding.
struct scram_client_binding {
    enum class flag : char {
        unsupported = 'n',  // no TLS, or no way to bind
        not_offered = 'y',  // could bind, but the server did not offer the PLUS mechanism
        used = 'p',         // SCRAM-SHA-256-PLUS was chosen
    };
    flag kind = flag::unsupported;
    std::string data;  // for `used`: the hash of the server's certificate
};

struct scram_challenge {
    std::string salt;  // raw bytes
    std::uint32_t iterations = 0;
    friend bool operator==(const scram_challenge&, const scram_challenge&) = default;
};

class scram_client {
public:
    // `nonce`: printable, without comma, fresh and random for each exchange; 18 random bytes in
    // base64 will do.
    explicit scram_client(std::string nonce, scram_client_binding binding = {});

    [[nodiscard]] std::string first_message() const;
    [[nodiscard]] result<scram_challenge> read_challenge(std::string_view server_first);
    // errc::secret_unusable when the keys were not derived with the challenge's salt and
    // iterations.
    [[nodiscard]] result<std::string> final_message(const scram_keys& keys);
    // Success proves that the server knows the verifier. Without it the login must not go on.
    [[nodiscard]] error_code check_server(std::string_view server_final);

private:
    enum class state : std::uint8_t { started, challenged, answered, over };

    [[nodiscard]] std::string gs2_header() const;

    state state_ = state::started;
    std::string nonce_;
    scram_client_binding binding_;
    scram_challenge challenge_;
    std::string server_first_;
    std::string combined_nonce_;
    sha256_digest server_signature_{};
};

}  // namespace weir::protocol
