#include "protocol/crypto.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <limits>

namespace weir::protocol {

result<sha256_digest> sha256(byte_span data) noexcept {
    sha256_digest digest{};
    if (EVP_Digest(data.data(), data.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
        return errc::crypto;
    }
    return digest;
}

result<sha256_digest> hmac_sha256(byte_span key, byte_span data) noexcept {
    sha256_digest digest{};
    if (key.size() > std::numeric_limits<int>::max()) {
        return errc::crypto;
    }
    const auto* const made = HMAC(
        EVP_sha256(),
        key.data(),
        static_cast<int>(key.size()),
        data.data(),
        data.size(),
        digest.data(),
        nullptr
    );
    if (made == nullptr) {
        return errc::crypto;
    }
    return digest;
}

result<sha256_digest>
pbkdf2_sha256(std::string_view password, std::string_view salt, std::uint32_t iterations) noexcept {
    constexpr std::size_t most = std::numeric_limits<int>::max();
    sha256_digest digest{};
    if (password.size() > most || salt.size() > most || iterations > most) {
        return errc::crypto;
    }
    const int done = PKCS5_PBKDF2_HMAC(
        password.data(),
        static_cast<int>(password.size()),
        as_bytes(salt).data(),
        static_cast<int>(salt.size()),
        static_cast<int>(iterations),
        EVP_sha256(),
        static_cast<int>(digest.size()),
        digest.data()
    );
    if (done != 1) {
        return errc::crypto;
    }
    return digest;
}

result<std::string> md5_hex(std::string_view data) {
    std::array<std::uint8_t, 16> digest{};
    if (EVP_Digest(data.data(), data.size(), digest.data(), nullptr, EVP_md5(), nullptr) != 1) {
        return errc::crypto;
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (const auto byte : digest) {
        hex.push_back(digits[byte >> 4U]);
        hex.push_back(digits[byte & 15U]);
    }
    return hex;
}

bool same_bytes(byte_span left, byte_span right) noexcept {
    return left.size() == right.size() &&
           CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace weir::protocol
