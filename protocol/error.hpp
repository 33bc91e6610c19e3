// What can be wrong with bytes from a peer, as error codes. Nothing in this folder throws.
#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

#include <type_traits>

namespace weir::protocol {

enum class errc {
    // The body ends before its last field does.
    truncated = 1,
    // The body goes on after its last field.
    trailing_bytes,
    // A text field has no terminating zero.
    unterminated_string,
    // A length word is smaller than itself or larger than what this kind of message may have.
    bad_length,
    // A count or a length inside a message is negative where it must not be.
    bad_count,
    // A field holds a value that its list of values does not know.
    bad_value,
    // A message of this kind is not allowed at this point.
    unexpected_message,
    // A cancel key is shorter than 4 or longer than 256 bytes.
    bad_cancel_key,
    // The first packet of a connection does not end as the protocol says.
    bad_startup_layout,
    // The server asks for a kind of authentication this program does not speak.
    unsupported_authentication,
    // The server offers no SASL mechanism this program speaks.
    no_common_mechanism,
    // A SCRAM message is not of the form RFC 5802 gives.
    scram_malformed,
    // A SCRAM message uses an extension or an authorization identity that is not supported.
    scram_unsupported,
    // The nonce of a SCRAM message is not the one of this exchange.
    scram_nonce_mismatch,
    // The channel binding flag or data contradicts what was negotiated.
    scram_channel_binding,
    // The iteration count is below 1 or so high that it would only burn time.
    scram_iterations,
    // The client's proof is wrong: it does not know the password.
    scram_bad_proof,
    // The server's signature is wrong: it does not know the verifier.
    scram_bad_signature,
    // The server ended the SCRAM exchange with an error of its own.
    scram_refused,
    // A clear-text or md5 password is wrong.
    wrong_password,
    // A text that begins like a SCRAM verifier is not one.
    bad_verifier,
    // A secret of this kind cannot be used for this method.
    secret_unusable,
    // The cryptographic library refused (MD5 under a FIPS provider, for example).
    crypto,
};

[[nodiscard]] const boost::system::error_category& protocol_category() noexcept;

// Found by argument-dependent look-up, which makes errc convertible to error_code.
[[nodiscard]] boost::system::error_code make_error_code(errc code) noexcept;

using boost::system::error_code;

// In Boost 1.81 it has no value_or: write `if (!r) return r.error();` and never call the throwing
// value().
template <class T>
using result = boost::system::result<T>;

}  // namespace weir::protocol

template <>
struct boost::system::is_error_code_enum<weir::protocol::errc> : std::true_type {};
