#include "protocol/error.hpp"

#include <string>

namespace weir::protocol {
namespace {

const char* sentence(errc code) noexcept {
    switch (code) {
    case errc::truncated: return "message ends too early";
    case errc::trailing_bytes: return "message has bytes after its last field";
    case errc::unterminated_string: return "text in a message is not terminated";
    case errc::bad_length: return "message length is not possible";
    case errc::bad_count: return "count in a message is not possible";
    case errc::bad_value: return "field of a message has an unknown value";
    case errc::unexpected_message: return "message is not allowed here";
    case errc::bad_cancel_key: return "cancel key has an impossible length";
    case errc::bad_startup_layout: return "startup packet has no terminator as its last byte";
    case errc::unsupported_authentication: return "authentication method is not supported";
    case errc::no_common_mechanism: return "no common SASL mechanism";
    case errc::scram_malformed: return "malformed SCRAM message";
    case errc::scram_unsupported: return "SCRAM extension is not supported";
    case errc::scram_nonce_mismatch: return "SCRAM nonce does not match";
    case errc::scram_channel_binding: return "SCRAM channel binding does not match";
    case errc::scram_iterations: return "SCRAM iteration count is out of range";
    case errc::scram_bad_proof: return "SCRAM proof is wrong";
    case errc::scram_bad_signature: return "SCRAM signature of the server is wrong";
    case errc::scram_refused: return "server ended the SCRAM exchange with an error";
    case errc::wrong_password: return "password is wrong";
    case errc::bad_verifier: return "malformed SCRAM-SHA-256 verifier";
    case errc::secret_unusable: return "stored secret cannot be used for this method";
    case errc::crypto: return "cryptographic library refused the operation";
    }
    return "unknown protocol error";
}

class category_type final : public boost::system::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "weir.protocol"; }

    [[nodiscard]] std::string message(int value) const override {
        return sentence(static_cast<errc>(value));
    }
};

}  // namespace

const boost::system::error_category& protocol_category() noexcept {
    static const category_type instance;
    return instance;
}

boost::system::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), protocol_category()};
}

}  // namespace weir::protocol
