// What comes back from the server connection, and giving it back.
#include "protocol/byte_writer.hpp"
#include "proxy/cancel.hpp"
#include "proxy/client/session.hpp"
#include "proxy/client_error.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy::client {

using protocol::backend::transaction_status;

namespace {

// The client's own messages made the server give up, as a Query in the middle of a COPY does.
bool is_clients_fault(const failure& why) {
    return why.diagnostic && why.diagnostic->code == protocol::sqlstates::protocol_violation;
}

// The server's own words, where it had any.
failure as_refusal(const failure& why) {
    failure ending = why;
    if (why.diagnostic) {
        ending.code = errc::server_refused;
    }
    return ending;
}

}  // namespace

void session::deliver(protocol::bytes_view bytes) {
    peer_->write_now(bytes);
}

void session::ready(transaction_status status) {
    if (retry_.ready()) {
        unit_decided_ = true;  // once more, to this server
        wake_.notify();
        return;
    }
    if (store_wait_) {
        ask_store();
    }
    worker_.count_query(query_probe_, query_kind_, sent_at_);
    sent_at_ = {};
    if (status == transaction_status::idle) {
        statements_.transaction_ended();
        if (std::exchange(ran_ddl_, false) && worker_.shared.refresh_catalog) {
            worker_.shared.refresh_catalog(
                route_to_.cluster->config->name,
                route_to_.server_database
            );
        }
        if (client_probe_ != nullptr) {
            client_probe_->transaction_ended();
        }
    }
    state_.ready(status, failed_);
    failed_ = false;
    began_ = began_ && !link_->owes().empty();
    phase_since_ = worker_.coarse_now;
    if (link_->reusable() && !unit_open_ && !unit_decided_ && !cutter_.in_body() &&
        pinned_ == routing::pin_reason::none) {
        let_go();
        peer_->flush();
    }
    if (stopping_ && !store_wait_ && (!link_ || between_transactions())) {
        kill({errc::shutting_down, {}, std::nullopt});
    }
    if (wake_.waiting()) {
        wake_.notify();
    }
}

void session::let_go() {
    const auto left = std::exchange(link_, nullptr);
    worker_.in_flight(*route_to_.cluster, linked_server_, -1);
    if (link_prepared_ && state_.held() != linked_held_) {
        if (linked_overlay_) {
            left->needs_reset();
        } else {
            left->settings = state_.held();
        }
    }
    const bool primary = linked_server_ == route_to_.cluster->topology->primary;
    const bool wrote = std::exchange(wrote_, false);
    linked_server_ = routing::no_server;
    if (phase_ == session_phase::active) {
        set_phase(session_phase::idle);
    }
    if (primary && (wrote || lacks_token()) && worker_.has_replicas(*route_to_.cluster)) {
        note_own_write(*left);
        return;
    }
    if (wrote) {
        forget_token();  // on a server that is the primary no more
    }
    left->release();
}

void session::abandon_link(bool cut) {
    const auto left = std::exchange(link_, nullptr);
    worker_.in_flight(*route_to_.cluster, linked_server_, -1);
    if (!left->owes().empty()) {
        cancel_on_server(worker_, left, linked_target_, {});
    }
    // Settings that it made, or may have made by what is not answered yet, must not meet the next
    // client.
    const bool unsettled = std::any_of(notes_.begin(), notes_.end(), [](const note_record& note) {
        return note.what == note_record::kind::effects && !note.done;
    });
    if (pinned_ != routing::pin_reason::none ||
        (link_prepared_ && (unsettled || state_.held() != linked_held_))) {
        left->needs_reset();
    }
    left->abandon(unit_open_, cut);
}

// Of a session that has a server: nothing of it is under way there.
bool session::between_transactions() const {
    return link_prepared_ && !unit_open_ && !unit_decided_ && link_->reusable();
}

void session::forget_token() {
    if (token_probe_) {
        token_probe_->wake = nullptr;  // its answer may still come when the session has gone
        token_probe_ = nullptr;
    }
    token_.state = routing::session_token::status::unknown;
}

// Reads stay on the primary until the position of the session's writes is known there: after the
// first replica read of a session that had written before, after a lost probe, after a change of
// the primary. Asked for once, behind such a read.
bool session::lacks_token() const {
    const auto& token = token_probe_ ? token_probe_->token : token_;
    switch (token.state) {
    case routing::session_token::status::unknown: return uses_replicas_;
    case routing::session_token::status::known:
        return uses_replicas_ && token.at.timeline != route_to_.cluster->topology->timeline;
    default: return false;
    }
}

void session::note_own_write(upstream::connection& left) {
    if (!uses_replicas_) {
        // Nobody has asked for anything but the primary so far; if somebody does, that read is the
        // primary's too.
        forget_token();
        left.release();
        return;
    }
    forget_token();
    token_probe_ = std::make_shared<upstream::position_probe>();
    token_probe_->wake = &wake_;
    token_probe_->token.at.system_identifier = route_to_.cluster->topology->system_identifier;
    token_probe_->token.at.timeline = route_to_.cluster->topology->timeline;
    left.release_behind(token_probe_);
}

void session::servers_changed() {
    linked_server_ = routing::no_server;
    if (link_) {
        link_->retire();
    }
}

// Nothing of what was sent will be answered any more. A unit that is to be sent again has not been.
void session::forget_sent() {
    first_note_ += notes_.size();
    notes_.clear();
    compared_ = 0;
    unit_runs_ = false;
    if (retry_.now() != unit_retry::phase::due) {
        retry_.reset();
    }
}

void session::lost(const failure& why) {
    const auto& gone = link_;
    const auto owed = gone->owes().ready_owed();
    // A transaction that was begun and not answered counts: the rest of it must not run on its own.
    const bool in_transaction =
        std::exchange(began_, false) || gone->status() != transaction_status::idle;
    const bool injected = injected_under_way_;
    const bool skipping = gone->owes().skipping();
    worker_.in_flight(*route_to_.cluster, linked_server_, -1);
    worker_.server_failed(*route_to_.cluster, linked_server_);
    link_ = nullptr;
    linked_server_ = routing::no_server;
    if (std::exchange(wrote_, false)) {
        // What was sent may have been committed, and its position cannot be learnt any more.
        forget_token();
    }
    forget_sent();
    if (injected) {
        wake_.notify();
        return;  // nothing of the client's was sent
    }
    if (in_transaction || pinned_ != routing::pin_reason::none || cutter_.in_body() ||
        is_clients_fault(why)) {
        // What the transaction or the session held is gone; going on would be a lie.
        kill(as_refusal(why));
        if (wake_.waiting()) {
            wake_.notify();  // it had been ended before and waits for the server's last words
        }
        return;
    }
    const bool already_told = std::exchange(failed_, false);
    state_.rollback();
    statements_.transaction_ended();
    const auto text = why.diagnostic ? *why.diagnostic : client_error(why);
    for (std::size_t i = 0; i < owed; ++i) {
        if (i != 0 || !already_told) {
            tell(text);
        }
        send_ready();
    }
    if (unit_open_ && (owed != 0 || !already_told)) {
        tell(text);
    }
    if (unit_open_ || skipping) {
        skip_to_sync_ = true;
        unit_open_ = false;
    }
    unit_decided_ = false;
    unit_.clear();
    set_phase(session_phase::idle);
    peer_->flush();
    if (wake_.waiting()) {
        wake_.notify();
    }
}

}  // namespace weir::proxy::client
