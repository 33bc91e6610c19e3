#include "proxy/upstream/transport.hpp"

namespace weir::proxy::upstream {

transport first_transport(config::tls_mode mode, bool unix_socket) noexcept {
    if (unix_socket) {
        return transport::plain;
    }
    switch (mode) {
    case config::tls_mode::disable:
    case config::tls_mode::allow: return transport::plain;
    case config::tls_mode::prefer: return transport::tls_if_offered;
    case config::tls_mode::require:
    case config::tls_mode::verify_ca:
    case config::tls_mode::verify_full: break;
    }
    return transport::tls;
}

std::optional<transport> next_transport(
    config::tls_mode mode,
    transport tried,
    bool encrypted,
    bool other_may_work
) noexcept {
    if (!other_may_work) {
        return std::nullopt;
    }
    if (mode == config::tls_mode::prefer && tried == transport::tls_if_offered && encrypted) {
        return transport::plain;
    }
    if (mode == config::tls_mode::allow && tried == transport::plain) {
        return transport::tls;
    }
    return std::nullopt;
}

}  // namespace weir::proxy::upstream
