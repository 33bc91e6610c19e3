#include "proxy/upstream/connection.hpp"

#include "protocol/frontend.hpp"
#include "proxy/worker_context.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <spdlog/spdlog.h>

#include <array>
#include <cassert>
#include <utility>

namespace weir::proxy::upstream {
namespace {

using protocol::answer_to;
using protocol::bytes_view;
using protocol::ledger_entry;
using protocol::owed;
using protocol::part_kind;
using protocol::verdict;
using protocol::backend::transaction_status;

constexpr std::array<std::uint8_t, 5> parse_complete{'1', 0, 0, 0, 4};
constexpr std::array<std::uint8_t, 5> close_complete{'3', 0, 0, 0, 4};

constexpr purpose purpose_of(const ledger_entry& entry) {
    return static_cast<purpose>(entry.tag);
}

[[maybe_unused]] bool may_follow(connection_state from, connection_state to) {
    switch (from) {
    case connection_state::logging_in:
        return to == connection_state::idle || to == connection_state::closed;
    case connection_state::idle:
    case connection_state::cleaning:
        return to == connection_state::linked || to == connection_state::idle ||
               to == connection_state::closed;
    case connection_state::linked:
        return to != connection_state::logging_in && to != connection_state::linked;
    case connection_state::closed: return false;
    }
    return false;
}

}  // namespace

const char* to_string(connection_state state) noexcept {
    switch (state) {
    case connection_state::logging_in: return "login";
    case connection_state::idle: return "idle";
    case connection_state::linked: return "active";
    case connection_state::cleaning: return "cleaning";
    case connection_state::closed: return "closed";
    }
    return "unknown";
}

connection::connection(
    worker_context& worker,
    connection_owner& owner,
    std::shared_ptr<weir::proxy::stream> stream,
    std::size_t max_statements
)
    : statements(max_statements),
      worker_(worker),
      owner_(&owner),
      stream_(std::move(stream)),
      input_(worker.scratch) {
    stream_->count_in(worker.probe, metrics::direction::from_server, metrics::direction::to_server);
}

void connection::set_state(connection_state next) {
    assert(may_follow(state_, next));
    state_ = next;
}

void connection::start() {
    become_idle();
    asio::co_spawn(
        worker_.io,
        [self = shared_from_this()]() -> asio::awaitable<void> { return self->run(); },
        asio::detached
    );
}

asio::awaitable<void> connection::run() {
    const auto self = shared_from_this();
    while (state_ != connection_state::closed) {
        const auto read_ec = co_await stream_->read(input_);
        if (read_ec) {
            if (state_ != connection_state::closed) {
                close(lost_because(read_ec.message()));
            }
            break;
        }
        if (!process()) {
            break;
        }
        const auto out = client_ != nullptr ? client_->out() : nullptr;
        if (out) {
            out->flush();
            if (out->pending() > stream::high_water) {
                input_.keep();
                co_await out->drain(stream::low_water);
            }
        }
    }
    if (gone_) {
        co_await see_off();
    }
}

asio::awaitable<void> connection::see_off() {
    auto read_ec = error_code{};
    while (!read_ec) {
        input_.consume(input_.view().size());
        read_ec = co_await stream_->read(input_);
    }
    stream_->close();
    std::exchange(gone_, nullptr)();
}

bool connection::process() {
    for (;;) {
        const auto part = cutter_.next(input_.view());
        if (part.kind == part_kind::incomplete) {
            break;
        }
        if (part.kind == part_kind::violation) {
            deliver_run();
            close({errc::server_protocol, who.server + " sent an impossible length", {}});
            return false;
        }
        if (!on_part(part)) {
            return false;
        }
        input_.consume(part.bytes.size());
    }
    deliver_run();
    return true;
}

bool connection::on_part(const protocol::frame_part& part) {
    if (part.kind == part_kind::body) {
        if (forward_body_) {
            forward(part.bytes);
        }
        // Only data comes in pieces; it ends nothing, so nothing is left to settle.
        return true;
    }
    switch (part.type) {
    case 'D':
    case 'd':
        // Rows are most of the traffic: they end nothing, so the front alone decides.
        if (!ledger_.empty() &&
            (ledger_.front().kind == owed::execute || ledger_.front().kind == owed::query)) {
            forward_body_ = ledger_.front().to == answer_to::client && client_ != nullptr;
            if (forward_body_) {
                forward(part.bytes);
            } else if (ledger_.front().to == answer_to::reworded && client_ != nullptr) {
                deliver_run();
                client_->reword(ledger_.front().note, part.type);
            } else if (clean_step_ == clean_step::probe && probe_ && part.kind == part_kind::whole) {
                probe_answered(part.body());
            }
            return true;
        }
        return on_message(part);
    case 'S': on_parameter(part.bytes); return true;
    case 'N':
    case 'A':
        // Notices belong to whatever runs; those of injected statements are nobody's business.
        if (client_ == nullptr || (!ledger_.empty() && ledger_.front().to != answer_to::client)) {
            return true;
        }
        if (part.type == 'A') {
            forward_notification(part);
        } else {
            forward(part.bytes);
        }
        return true;
    case 'E': return on_error(part);
    default: return on_message(part);
    }
}

bool connection::on_message(const protocol::frame_part& part) {
    const auto outcome = ledger_.on_message(part.type, dropped_);
    forward_body_ = outcome.what == verdict::forward && client_ != nullptr;
    switch (outcome.what) {
    case verdict::forward:
        if (hushed_ || hold_back(outcome.entry, part) ||
            (part.type == 'Z' && client_ != nullptr && kept(part.bytes))) {
            break;
        }
        if (client_ != nullptr && !reword(outcome.entry, part.type)) {
            forward(part.bytes);
        }
        break;
    case verdict::swallow: break;
    case verdict::replace:
        if (client_ != nullptr && aborted_) {
            forward(part.bytes);  // which PostgreSQL finds first
            break;
        }
        deliver_run();
        if (client_ != nullptr) {
            client_->deliver(own_errors_[outcome.entry.note]);
        }
        break;
    case verdict::violation:
        deliver_run();
        close(
            {errc::server_protocol,
             who.server + " sent message '" + static_cast<char>(part.type) + "' unasked",
             {}}
        );
        return false;
    }
    if (outcome.completed) {
        settle(
            outcome.entry,
            outcome.failed ? client_link::outcome::failed : client_link::outcome::answered,
            part.bytes
        );
        settle_dropped();
    }
    if (part.type == 'Z') {
        on_ready(part.bytes);
        return state_ != connection_state::closed;
    }
    if (outcome.completed) {
        deliver_locals();
    }
    return true;
}

// Whether the client keeps this ReadyForQuery back.
bool connection::kept(bytes_view frame) {
    const auto ready =
        protocol::backend::ready_for_query::decode(frame.subspan(protocol::header_size));
    return ready && client_->keeps_ready(ready->status);
}

bool connection::on_error(const protocol::frame_part& part) {
    const auto fields = protocol::backend::response_fields::decode(part.body());
    if (!fields) {
        deliver_run();
        close({errc::server_protocol, who.server + " sent a malformed ErrorResponse", {}});
        return false;
    }
    if (fields->is_fatal()) {
        // The end of the connection follows. A client whose statement runs sees the server's own
        // words.
        deliver_run();
        failure why = lost_because(fields->message());
        why.diagnostic = protocol::diagnostic{
            protocol::severity::error,
            fields->sqlstate(),
            std::string(fields->message()),
            std::string(fields->detail()),
            std::string(fields->hint())};
        close(why);
        return false;
    }
    if (ledger_.empty()) {
        close({errc::server_protocol, who.server + " sent an error unasked", {}});
        return false;
    }
    const auto front = ledger_.front();
    // A plan whose result type changed (utils/cache/plancache.c) is of no use to anybody any more.
    stale_ = fields->code() == "0A000" && fields->routine() == "RevalidateCachedQuery";
    hushed_ = stale_ && client_ != nullptr && front.to == answer_to::client && front.note != 0 &&
              client_->takes_back(front.note);
    if (purpose_of(front) == purpose::settings || purpose_of(front) == purpose::check ||
        purpose_of(front) == purpose::clean_up) {
        injected_failed_ = true;
        injected_failure_ = {errc::server_refused, who.server, std::nullopt};
        injected_failure_.diagnostic = protocol::diagnostic{
            protocol::severity::error,
            fields->sqlstate(),
            std::string(fields->message()),
            std::string(fields->detail()),
            std::string(fields->hint())};
    } else if (client_ != nullptr && !hushed_) {
        client_->error_seen(*fields);
    }
    // Of a name of the proxy's own it only says that a Close did not happen.
    already_there_ = fields->code() == "42P05";
    aborted_ = fields->code() == "25P02";
    const bool alive = on_message(part);
    stale_ = false;
    if (std::exchange(hushed_, false)) {
        ledger_.hush_front();  // its Sync
        held_back_.clear();
    }
    return alive;
}

void connection::on_parameter(bytes_view frame) {
    const auto status =
        protocol::backend::parameter_status::decode(frame.subspan(protocol::header_size));
    if (!status) {
        return;
    }
    if (status->name == "in_hot_standby") {
        hot_standby = status->value == "on";
        return;
    }
    parameters = worker_.parameters.with(parameters, status->name, status->value);
    if (client_ != nullptr && (ledger_.empty() || ledger_.front().to != answer_to::nobody)) {
        deliver_run();
        client_->parameter_changed(status->name, status->value, frame);
    }
}

void connection::on_ready(bytes_view frame) {
    const auto ready =
        protocol::backend::ready_for_query::decode(frame.subspan(protocol::header_size));
    status_ = ready ? ready->status : transaction_status::failed;
    deliver_run();
    deliver_locals();
    if (state_ == connection_state::cleaning) {
        if (ledger_.empty()) {
            continue_cleaning();
        }
        return;
    }
    if (client_ == nullptr) {
        return;
    }
    switch (std::exchange(injected_, injected_result::none)) {
    case injected_result::done: client_->injected_done(nullptr); break;
    case injected_result::failed: client_->injected_done(&injected_failure_); break;
    case injected_result::none: client_->ready(status_); break;
    }
}

void connection::deliver_locals() {
    ledger_entry entry;
    while (ledger_.take_local(entry)) {
        deliver_run();
        if (client_ != nullptr && entry.to == answer_to::client) {
            switch (purpose_of(entry)) {
            case purpose::parse_complete: client_->deliver(parse_complete); break;
            case purpose::close_complete: client_->deliver(close_complete); break;
            default: break;
            }
        }
        settle(entry, client_link::outcome::answered, {});
    }
}

}  // namespace weir::proxy::upstream
