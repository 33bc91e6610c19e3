// What to do with each packet that comes before a session begins. Pure.
#pragma once

#include "protocol/startup.hpp"

#include <cstdint>

namespace weir::proxy::client {

enum class first_step : std::uint8_t {
    accept_tls,   // answer 'S', then the handshake
    answer_no,    // answer 'N' and read on
    start,        // a StartupMessage
    cancel,       // a CancelRequest
    unsupported,  // a major version that nobody here speaks
    injected,     // bytes came behind the request that may have been put there by somebody else
    close,        // asked twice for the same
};

// A client may ask for TLS and for GSSAPI encryption, each once and in any order, before it starts
// a session.
class encryption_requests {
public:
    // `tls_offered`: a certificate is configured and this kind of socket may use it.
    explicit encryption_requests(bool tls_offered) noexcept : tls_offered_(tls_offered) {}

    // `bytes_behind`: something was received behind the packet. Behind a request for encryption
    // nothing may be: it would be read as if it had come encrypted.
    [[nodiscard]] first_step next(const protocol::first_packet& packet, bool bytes_behind) noexcept;

private:
    bool tls_offered_;
    bool tls_asked_ = false;
    bool gss_asked_ = false;
};

}  // namespace weir::proxy::client
