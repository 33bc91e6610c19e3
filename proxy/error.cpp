#include "proxy/error.hpp"

namespace weir::proxy {
namespace {

class category final : public boost::system::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "weir.proxy"; }

    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<errc>(value)) {
        case errc::server_unavailable: return "server unavailable";
        case errc::server_lost: return "connection to the server lost";
        case errc::server_refused: return "log-in refused by the server";
        case errc::server_protocol: return "protocol violation by the server";
        case errc::queue_timeout: return "queue time-out";
        case errc::queue_full: return "queue full";
        case errc::canceled_in_queue: return "canceled while waiting";
        case errc::no_primary: return "no primary";
        case errc::no_replica: return "no fit replica";
        case errc::too_many_clients: return "too many clients";
        case errc::shutting_down: return "shutting down";
        case errc::login_timeout: return "log-in time-out";
        case errc::client_gone: return "client gone";
        case errc::client_protocol: return "protocol violation by the client";
        case errc::unknown_database: return "unknown database";
        case errc::authentication_failed: return "authentication failed";
        case errc::tls_required: return "TLS required";
        case errc::not_supported: return "not supported";
        case errc::idle_in_transaction: return "idle in transaction";
        case errc::idle_client: return "idle client";
        }
        return "unknown error";
    }
};

}  // namespace

const boost::system::error_category& proxy_category() noexcept {
    static const category instance;
    return instance;
}

boost::system::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), proxy_category()};
}

}  // namespace weir::proxy
