// What SCRAM-SHA-256 derives from a password, and what a server stores of it. Plain values, made
// once and used for many logins: deriving costs milliseconds, a login with derived keys
// microseconds. Source: RFC 5802 section 3, RFC 7677; the stored form is PostgreSQL's
// (pg_authid.rolpassword).
#pragma once

#include "protocol/crypto.hpp"
#include "protocol/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::protocol {

inline constexpr std::uint32_t scram_default_iterations = 4096;
// More would block a thread for the better part of a second per derivation.
inline constexpr std::uint32_t scram_max_iterations = 1'000'000;
inline constexpr std::size_t scram_max_salt = 256;
inline constexpr std::size_t scram_default_salt = 16;

// Knowing it lets one check a client and prove oneself a server, but not log in.
struct scram_verifier {
    std::string salt;  // raw bytes
    std::uint32_t iterations = scram_default_iterations;
    sha256_digest stored_key{};
    sha256_digest server_key{};

    // From "SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>"; errc::bad_verifier
    // otherwise.
    [[nodiscard]] static result<scram_verifier> parse(std::string_view text);
    [[nodiscard]] std::string text() const;
    friend bool operator==(const scram_verifier&, const scram_verifier&) = default;
};

// Does the text begin as a verifier does? Then it is not meant as a password.
[[nodiscard]] bool is_scram_verifier(std::string_view text) noexcept;

// Knowing it lets one log in wherever the same verifier is stored.
struct scram_keys {
    scram_verifier verifier;
    sha256_digest client_key{};
    friend bool operator==(const scram_keys&, const scram_keys&) = default;
};

// The password goes through SASLprep first, as PostgreSQL does it. errc::scram_iterations,
// errc::scram_malformed (salt) or errc::crypto.
[[nodiscard]] result<scram_keys>
derive_keys(std::string_view password, std::string_view salt, std::uint32_t iterations);

// A verifier for a user that does not exist. The salt is the same for the same name and secret, so
// that asking twice does not tell; no password fits it. `process_secret` is random and made at
// start.
[[nodiscard]] result<scram_verifier> mock_verifier(
    std::string_view user,
    byte_span process_secret,
    std::uint32_t iterations = scram_default_iterations
);

}  // namespace weir::protocol
