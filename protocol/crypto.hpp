// The few primitives that logins need, from OpenSSL. Pure; an error (errc::crypto) means that the
// library refuses the algorithm, which a FIPS provider does with MD5.
#pragma once

#include "protocol/byte_reader.hpp"
#include "protocol/error.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::protocol {

using sha256_digest = std::array<std::uint8_t, 32>;

[[nodiscard]] result<sha256_digest> sha256(byte_span data) noexcept;
[[nodiscard]] result<sha256_digest> hmac_sha256(byte_span key, byte_span data) noexcept;
// PBKDF2-HMAC-SHA-256 of one block. Takes about half a microsecond per iteration.
[[nodiscard]] result<sha256_digest>
pbkdf2_sha256(std::string_view password, std::string_view salt, std::uint32_t iterations) noexcept;
// 32 lower-case hex digits.
[[nodiscard]] result<std::string> md5_hex(std::string_view data);

// In a time that depends on the sizes only.
[[nodiscard]] bool same_bytes(byte_span left, byte_span right) noexcept;

}  // namespace weir::protocol
