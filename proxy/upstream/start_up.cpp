#include "proxy/upstream/start_up.hpp"

#include "protocol/backend.hpp"
#include "protocol/startup.hpp"
#include "proxy/printable.hpp"

#include <string>
#include <utility>

namespace weir::proxy::upstream {
namespace {

using protocol::backend::kind;

constexpr std::string_view parameter_of_standby = "in_hot_standby";

start_up::problem broken(std::string text) {
    start_up::problem made;
    made.ours.code = errc::server_protocol;
    made.ours.text = std::move(text);
    return made;
}

start_up::problem malformed(const protocol::error_code& ec) {
    return broken("malformed message: " + ec.message());
}

}  // namespace

start_up::start_up(authenticator::options given, scram_cache& cache)
    : user_(given.user), authentication_(std::move(given), cache) {}

void start_up::begin(std::string_view database, std::vector<std::uint8_t>& out) const {
    protocol::startup_message message;
    // No application_name: it would be what a client sees that has given none.
    message.parameters = {{"user", user_}, {"database", database}};
    protocol::byte_writer writer(out);
    message.encode(writer);
}

const char* start_up::doing() const noexcept {
    if (authentication_.done()) {
        return "waiting for the server to become ready";
    }
    return authentication_.begun() ? "authenticating" : "starting up";
}

std::optional<start_up::problem>
start_up::on_message(char type, protocol::byte_span body, std::vector<std::uint8_t>& out) {
    const auto what = static_cast<kind>(type);
    switch (what) {
    case kind::authentication: return on_authentication(body, out);
    case kind::error_response: return on_error(body);
    case kind::notice_response:
    case kind::negotiate_protocol_version: return std::nullopt;
    default: break;
    }
    if (authentication_.done()) {
        switch (what) {
        case kind::parameter_status: return on_parameter(body);
        case kind::backend_key_data: return on_key(body);
        case kind::ready_for_query: return on_ready(body);
        default: break;
        }
    }
    return broken("unexpected message " + printable({&type, 1}));
}

start_up::outcome
start_up::on_authentication(protocol::byte_span body, std::vector<std::uint8_t>& out) {
    const auto request = protocol::backend::authentication::decode(body);
    if (!request && request.error() == protocol::errc::unsupported_authentication) {
        problem made;
        made.ours.code = errc::server_refused;
        made.ours.text = "the server asks for a kind of authentication that pgweir does not speak";
        made.ours.hint = "Use scram-sha-256 in the server's pg_hba.conf.";
        return made;
    }
    if (!request) {
        return malformed(request.error());
    }
    auto wrong = authentication_.on_request(*request, out);
    if (!wrong) {
        return std::nullopt;
    }
    problem made;
    made.ours = std::move(*wrong);
    return made;
}

start_up::outcome start_up::on_error(protocol::byte_span body) {
    const auto fields = protocol::backend::response_fields::decode(body);
    if (!fields) {
        return malformed(fields.error());
    }
    protocol::diagnostic told;
    told.level = protocol::severity::fatal;
    told.code = fields->sqlstate();
    told.message = fields->message();
    told.detail = fields->detail();
    told.hint = fields->hint();
    refused_by_rule_ =
        !authentication_.begun() && told.code == protocol::sqlstates::invalid_authorization;
    problem made;
    made.ours.code = errc::server_refused;
    made.told = std::move(told);
    return made;
}

start_up::outcome start_up::on_parameter(protocol::byte_span body) {
    const auto status = protocol::backend::parameter_status::decode(body);
    if (!status) {
        return malformed(status.error());
    }
    if (status->name == parameter_of_standby) {
        said_.hot_standby = status->value == "on";
    } else {
        said_.parameters.insert_or_assign(std::string(status->name), std::string(status->value));
    }
    return std::nullopt;
}

start_up::outcome start_up::on_key(protocol::byte_span body) {
    const auto data = protocol::backend::backend_key_data::decode(body);
    if (!data) {
        return malformed(data.error());
    }
    said_.pid = static_cast<std::uint32_t>(data->pid);
    said_.key.assign(data->key.begin(), data->key.end());
    return std::nullopt;
}

start_up::outcome start_up::on_ready(protocol::byte_span body) {
    const auto ready = protocol::backend::ready_for_query::decode(body);
    if (!ready) {
        return malformed(ready.error());
    }
    if (ready->status != protocol::backend::transaction_status::idle) {
        return broken("the session begins inside a transaction");
    }
    ready_ = true;
    return std::nullopt;
}

}  // namespace weir::proxy::upstream
