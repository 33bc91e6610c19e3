#include "proxy/client/encryption_requests.hpp"

#include <utility>
#include <variant>

namespace weir::proxy::client {

first_step
encryption_requests::next(const protocol::first_packet& packet, bool bytes_behind) noexcept {
    if (std::holds_alternative<protocol::startup_message>(packet)) {
        return first_step::start;
    }
    if (std::holds_alternative<protocol::cancel_request>(packet)) {
        return first_step::cancel;
    }
    if (std::holds_alternative<protocol::unsupported_version>(packet)) {
        return first_step::unsupported;
    }
    const bool for_tls = std::holds_alternative<protocol::ssl_request>(packet);
    if (std::exchange(for_tls ? tls_asked_ : gss_asked_, true)) {
        return first_step::close;
    }
    if (bytes_behind) {
        return first_step::injected;
    }
    if (for_tls && tls_offered_) {
        gss_asked_ = true;  // inside TLS there is nothing left to ask for
        return first_step::accept_tls;
    }
    return first_step::answer_no;
}

}  // namespace weir::proxy::client
