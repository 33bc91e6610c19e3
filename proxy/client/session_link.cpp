// Getting a connection for a unit, and giving it back.
#include "protocol/byte_writer.hpp"
#include "proxy/client/session.hpp"
#include "proxy/client_error.hpp"

#include <boost/asio/steady_timer.hpp>

#include <spdlog/spdlog.h>

#include <utility>

namespace weir::proxy::client {
namespace {

using namespace std::chrono_literals;
using protocol::backend::transaction_status;
using routing::route_kind;

// A server that could not be reached is not asked again at once.
constexpr auto retry_pause = 100ms;
constexpr unsigned settings_attempts = 3;

}  // namespace

bool session::obtain_at_once() {
    if (link_ && (!link_prepared_ || own_setting_under_way())) {
        return false;
    }
    if (link_ && unit_.decisive == nullptr && !unit_.write) {
        unit_decided_ = true;  // a Sync alone, or what belongs to the unit before
        return true;
    }
    const auto chosen = decide();
    if (link_) {
        if (!link_fits(chosen)) {
            return false;
        }
        take_route(chosen);
        unit_decided_ = true;
        return true;
    }
    if (chosen.kind != route_kind::server) {
        return false;
    }
    auto& pool =
        worker_.pool_of(*route_to_.cluster, chosen.server, route_to_.server_database, user_);
    const auto wanted = worker_.settings.overlaid(state_.wanted(), overlay_of(chosen));
    auto taken = pool.try_take(id_, wanted);
    if (!taken) {
        if (unit_.known_parses && !unit_.cut) {
            answer_alone();
            return true;
        }
        return false;
    }
    take_route(chosen);
    link_to(std::move(taken), chosen);
    const auto check_after = route_to_.cluster->config->pool.check_after;
    if (link_->settings != wanted || link_->dirty_for(id_) ||
        (check_after != 0ms && worker_.coarse_now - link_->idle_since > check_after)) {
        return false;  // obtain() goes on with this connection
    }
    link_ready();
    return true;
}

void session::link_to(upstream::connection_ptr which, const routing::route& chosen) {
    link_ = std::move(which);
    link_->attach(*this);
    linked_server_ = chosen.server;
    linked_target_ =
        worker_.pool_of(*route_to_.cluster, chosen.server, route_to_.server_database, user_)
            .target();
    linked_overlay_ = overlay_of(chosen);
    link_prepared_ = false;
    worker_.in_flight(*route_to_.cluster, chosen.server, +1);
}

void session::link_ready() {
    state_.linked();
    match_parameters();
    unit_decided_ = true;
    linked_held_ = state_.held();
    link_prepared_ = true;
}

void session::match_parameters() {
    if (link_->parameters == told_) {
        return;
    }
    build_.clear();
    protocol::byte_writer writer(build_);
    for (const auto& [name, value] : *link_->parameters) {
        const auto known = told_ ? told_->find(name) : parameter_map::const_iterator{};
        if (!told_ || known == told_->end() || known->second != value) {
            protocol::backend::parameter_status{name, value}.encode(writer);
        }
    }
    const bool greeting = phase_ == session_phase::login || !told_;
    told_ = link_->parameters;
    note_parameters();
    if (!greeting) {
        peer_->write(build_);
    }
}

asio::awaitable<void> session::obtain() {
    input_.keep();
    // An earlier unit is still being answered by a server that may not have this one: its client's
    // order is kept.
    while (link_ && link_prepared_) {
        co_await wake_.wait();
        if (fatal_ || broken_ || forwarding()) {
            co_return;
        }
        if (obtain_at_once()) {
            co_return;
        }
    }
    canceled_ = false;
    settings_canceled_ = 0;
    set_phase(session_phase::waiting);
    const auto deadline = worker_.now() + route_to_.cluster->config->failover.wait;
    failure why{errc::no_primary, "cluster " + route_to_.cluster->config->name, std::nullopt};
    auto done = obtained::retry;
    while (done == obtained::retry && !fatal_ && !broken_) {
        if (canceled_) {
            fail_collected({errc::canceled_in_queue, {}, std::nullopt});
            break;
        }
        done = co_await try_obtain(why);
        if (done == obtained::retry_at_once) {
            done = obtained::retry;
            continue;
        }
        if (done == obtained::linked &&
            canceled_) {  // meant for the client's own statement, which has not been sent
            unit_decided_ = false;
            let_go();
            fail_collected({errc::canceled_in_queue, {}, std::nullopt});
        }
        if (done != obtained::retry) {
            break;
        }
        const bool in_time = co_await wait_for_topology(deadline);
        if (!in_time) {
            fail_collected(why);
            break;
        }
    }
    if (phase_ == session_phase::waiting) {
        set_phase(link_ ? session_phase::active : session_phase::idle);
    }
}

// One attempt. `why` is what to say if there is no time for another one.
asio::awaitable<session::obtained> session::try_obtain(failure& why) {
    if (!link_) {
        const auto chosen = decide();
        if (chosen.kind == route_kind::no_replica) {
            fail_collected({errc::no_replica, {}, std::nullopt});
            co_return obtained::failed;
        }
        if (chosen.kind == route_kind::wait_for_primary) {
            co_return obtained::retry;
        }
        if (chosen.kind == route_kind::wait_for_token) {
            wake_.clear();
            co_await wake_.wait();
            co_return obtained::retry_at_once;
        }
        take_route(chosen);
        const auto taken = co_await take_from_pool(chosen);
        if (taken != obtained::linked) {
            if (waiter_.failed) {
                why = *waiter_.failed;
            }
            co_return taken;
        }
    }
    const auto prepared = co_await prepare_link();
    co_return prepared;
}

asio::awaitable<session::obtained> session::take_from_pool(routing::route chosen) {
    auto& pool =
        worker_.pool_of(*route_to_.cluster, chosen.server, route_to_.server_database, user_);
    const auto wanted = worker_.settings.overlaid(state_.wanted(), overlay_of(chosen));
    const auto config = worker_.config;
    bool waited = false;
    waiter_.failed.reset();
    waiter_.granted = pool.try_take(id_, wanted);
    if (!waiter_.granted) {
        wake_.clear();
        waiting_in_ = &pool;
        pool.enqueue(waiter_);
        while (!waiter_.granted && !waiter_.failed) {
            co_await wake_.wait();
        }
        waiting_in_ = nullptr;
        waited = true;
    }
    if (waiter_.granted) {
        auto granted = std::exchange(waiter_.granted, nullptr);
        if (granted->state() == upstream::connection_state::closed) {
            waiter_.failed = failure{errc::server_lost, granted->who.server, std::nullopt};
            co_return obtained::retry;
        }
        const bool ended = fatal_ || broken_;
        // After a reload neither the server's number nor the rule of the choice is what it was.
        if (ended || worker_.config != config ||
            (waited && !routing::still_serves(chosen, question()))) {
            granted->attach(*this);
            granted->release();
            co_return ended ? obtained::failed : obtained::retry_at_once;
        }
        link_to(std::move(granted), chosen);
        co_return obtained::linked;
    }
    if (waiter_.failed->code == errc::client_gone || fatal_) {
        broken_ = !fatal_;
        co_return obtained::failed;
    }
    if (worker_.config != config && waiter_.failed->code != errc::canceled_in_queue) {
        co_return obtained::retry_at_once;
    }
    if (waiter_.failed->code == errc::server_unavailable ||
        waiter_.failed->code == errc::server_lost || is_starting(*waiter_.failed)) {
        worker_.server_failed(*route_to_.cluster, chosen.server);
        co_return obtained::retry;
    }
    fail_collected(*waiter_.failed);
    co_return obtained::failed;
}

bool session::is_starting(const failure& why) {
    return why.diagnostic && (why.diagnostic->code == protocol::sqlstates::cannot_connect_now ||
                              why.diagnostic->code == protocol::sqlstates::admin_shutdown ||
                              why.diagnostic->code == protocol::sqlstates::crash_shutdown);
}

// Retry: the connection was lost before anything of the client's was sent.
asio::awaitable<session::obtained> session::prepare_link() {
    const auto check_after = route_to_.cluster->config->pool.check_after;
    injected_failure_.reset();
    if (check_after != 0ms && worker_.coarse_now - link_->idle_since > check_after) {
        begin_injected();
        link_->check();
        co_await injected();
        if (!link_) {
            co_return obtained::retry_at_once;
        }
    }
    const auto wanted = worker_.settings.overlaid(state_.wanted(), linked_overlay_);
    begin_injected();
    if (!link_->bring_settings(wanted)) {
        co_await injected();
        if (!link_) {
            co_return obtained::retry_at_once;
        }
        if (injected_failure_) {
            const auto why = *injected_failure_;
            let_go();
            // A time limit that the client before has left behind, for instance: another connection
            // may do.
            const bool canceled =
                why.diagnostic && why.diagnostic->code == protocol::sqlstates::query_canceled;
            if (canceled && ++settings_canceled_ <= settings_attempts) {
                co_return obtained::retry_at_once;
            }
            fail_collected(why);
            co_return obtained::failed;
        }
    }
    injected_under_way_ = false;
    link_ready();
    co_return obtained::linked;
}

asio::awaitable<void> session::injected() {
    while (injected_under_way_ && link_) {
        co_await wake_.wait();
    }
    injected_under_way_ = false;
}

void session::begin_injected() {
    injected_under_way_ = true;
    wake_.clear();
}

void session::injected_done(const failure* why) {
    injected_under_way_ = false;
    if (why != nullptr) {
        injected_failure_ = *why;
    }
    wake_.notify();
}

asio::awaitable<bool> session::wait_for_topology(steady_time deadline) {
    if (worker_.now() >= deadline || peer_->peer_gone()) {
        broken_ = peer_->peer_gone();
        co_return false;
    }
    // A new snapshot, or a while, whichever is first.
    asio::steady_timer pause(worker_.io, retry_pause);
    pause.async_wait([this, alive = std::weak_ptr<int>(alive_)](const error_code& ec) {
        if (!ec && !alive.expired()) {
            wake_.notify();
        }
    });
    route_to_.cluster->waiting.insert(&wake_);
    wake_.clear();
    co_await wake_.wait();
    route_to_.cluster->waiting.erase(&wake_);
    co_return true;
}

void session::fail_collected(const failure& why) {
    if (phase_ == session_phase::login || !told_) {
        fatal_ = why;
        return;
    }
    tell(client_error(why));
    // The whole unit fails: a Query at once, an extended one up to its Sync, which is answered in
    // its turn.
    const auto view = input_.view();
    skip_to_sync_ = true;
    skip_query_ = !view.empty() && (view[0] == 'Q' || view[0] == 'F');
    unit_.clear();
    peer_->flush();
}

}  // namespace weir::proxy::client
