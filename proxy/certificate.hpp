// Checking whose certificate a server shows.
#pragma once

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <string>

namespace weir::proxy {

// A numeric IPv4 or IPv6 address, not a name.
[[nodiscard]] bool is_address(const std::string& host) noexcept;

// Before the handshake: the certificate must be for `host`, the name or address that was dialled.
// An address is looked for among the certificate's IP addresses only, never among its names. False:
// OpenSSL refuses.
[[nodiscard]] bool expect_host(SSL* ssl, const std::string& host);

// Inside a verification that fails: what is wrong, with the name that was wanted and those that the
// certificate has.
[[nodiscard]] std::string describe_certificate_fault(X509_STORE_CTX* about);

}  // namespace weir::proxy
