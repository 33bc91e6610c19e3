// What others ask of a session: cancel, end, look at its deadlines, describe itself.
#include "proxy/cancel.hpp"
#include "proxy/client/session.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy::client {
namespace {

using protocol::backend::transaction_status;
using namespace std::chrono_literals;

// For a FATAL to reach its client, and for the last answers behind Terminate.
constexpr auto last_words = 5s;
constexpr auto last_answers = 60s;

}  // namespace

void session::cancel(const std::function<void()>& done) {
    if (phase_ != session_phase::waiting && link_ && !link_->owes().empty()) {
        cancel_on_server(worker_, link_, linked_target_, done);
        return;
    }
    if (waiter_.queued) {
        waiting_in_->leave(waiter_);
        waiter_.failed = failure{errc::canceled_in_queue, {}, std::nullopt};
        wake_.notify();
    } else if (phase_ == session_phase::waiting) {
        canceled_ = true;  // waits for a primary, or for settings to be brought
        if (!link_) {
            wake_.notify();
        }
    }
    done();
}

void session::kill(const failure& why) {
    if (fatal_) {
        return;
    }
    fatal_ = why;
    killed_at_ = worker_.coarse_now;
    if (waiter_.queued) {
        waiting_in_->leave(waiter_);
        waiter_.failed = why;
    }
    if (wake_.waiting()) {
        wake_.notify();
    } else {
        peer_->stop_reading();
    }
}

void session::stop_when_idle() {
    stopping_ = true;
    if (phase_ == session_phase::login) {
        kill({errc::shutting_down, {}, std::nullopt});
        peer_->close();
    } else if (store_wait_) {
        return;  // store_answered() looks again
    } else if (link_ ? between_transactions() : phase_ == session_phase::idle) {
        kill({errc::shutting_down, {}, std::nullopt});
    }
}

void session::tick(steady_time now) {
    // A peer that takes no last words, or a server that takes no messages, does not keep the
    // session.
    const auto ending = killed_at_ != steady_time{} ? killed_at_ : phase_since_;
    const auto patience = fatal_ ? last_words : last_answers;
    if ((fatal_ || phase_ == session_phase::closing) && now - ending > patience &&
        !(link_ && !fatal_)) {
        peer_->close();
        if (link_) {
            link_->close({errc::client_gone, "its client was ended", std::nullopt});
        }
    }
    const auto& limits = route_to_.cluster != nullptr ? route_to_.cluster->config->pool
                                                      : worker_.config->clusters.front().pool;
    const auto passed = [&](std::chrono::milliseconds limit, steady_time since) {
        return limit.count() != 0 && now - since > limit;
    };
    if (phase_ == session_phase::login) {
        if (passed(worker_.config->listen.login_timeout, connected_)) {
            kill({errc::login_timeout, {}, std::nullopt});
            peer_->close();
        }
        return;
    }
    if (phase_ != session_phase::active && phase_ != session_phase::idle) {
        return;
    }
    const auto since = std::max(phase_since_, last_request_);
    if (link_ && link_->owes().empty() &&
        (unit_open_ || link_->status() != transaction_status::idle)) {
        if (passed(limits.idle_transaction_timeout, since)) {
            kill({errc::idle_in_transaction, {}, std::nullopt});
        }
    } else if ((!link_ || between_transactions()) && passed(limits.client_idle_timeout, since)) {
        kill({errc::idle_client, {}, std::nullopt});
    }
}

session::description session::describe() const {
    description found;
    found.id = id_;
    found.user = user_;
    found.database = database_;
    found.application_name = application_name_;
    found.address = address_.text;
    found.phase = phase_;
    if (link_) {
        found.server = link_->who.server;
        found.server_pid = link_->who.pid;
    }
    found.pinned = pinned_;
    found.connected = connected_;
    found.last_request = last_request_;
    found.prepared = statements_.size();
    found.tls = peer_->encrypted();
    found.key = key_;
    return found;
}

}  // namespace weir::proxy::client
