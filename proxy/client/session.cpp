#include "proxy/client/session.hpp"

#include "migration/supervisor.hpp"
#include "protocol/byte_writer.hpp"
#include "proxy/cancel.hpp"
#include "proxy/client_error.hpp"
#include "proxy/console/console.hpp"
#include "routing/names.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace weir::proxy::client {
namespace {

using protocol::backend::transaction_status;
using namespace std::chrono_literals;

metrics::client_state metric_of(session_phase phase) {
    switch (phase) {
    case session_phase::login: return metrics::client_state::login;
    case session_phase::waiting: return metrics::client_state::waiting;
    case session_phase::active: return metrics::client_state::active;
    case session_phase::idle:
    case session_phase::closing: break;
    }
    return metrics::client_state::idle;
}

}  // namespace

const char* to_string(session_phase phase) noexcept {
    switch (phase) {
    case session_phase::login: return "login";
    case session_phase::idle: return "idle";
    case session_phase::waiting: return "waiting";
    case session_phase::active: return "active";
    case session_phase::closing: return "closing";
    }
    return "unknown";
}

session::session(worker& home, std::shared_ptr<stream> peer, peer_address address, std::uint64_t id)
    : worker_(home),
      peer_(std::move(peer)),
      address_(std::move(address)),
      input_(home.scratch),
      cutter_(protocol::side::frontend, {.whole_text = home.config->routing.max_parse_bytes}),
      id_(id),
      wake_(home.io),
      waiter_(wake_),
      state_(home.settings),
      connected_(home.coarse_now),
      last_request_(home.coarse_now),
      phase_since_(home.coarse_now) {
    peer_->count_in(home.probe, metrics::direction::from_client, metrics::direction::to_client);
    waiter_.client_id = id;
    waiter_.peer = peer_.get();
    key_ = worker_.add_session(*this);
}

session::~session() {
    if (waiting_in_ != nullptr) {
        waiting_in_->leave(waiter_);
    }
    if (client_probe_ != nullptr) {
        client_probe_->left(metric_of(phase_));
    }
    if (pinned_ != routing::pin_reason::none) {
        worker_.probe.pins(routing::name_of(pinned_)).add(-1);
    }
    forget_token();
    forget_store();
    if (const auto left = std::exchange(link_, nullptr)) {  // an exception has ended it
        worker_.in_flight(*route_to_.cluster, linked_server_, -1);
        left->abandon(true, true);
    }
    worker_.remove_session(*this, key_);
}

asio::awaitable<void> session::run() {
    const auto who = co_await log_in(worker_, peer_, input_, address_);
    if (who.what == login_outcome::kind::cancel) {
        const cancel_key key{
            static_cast<std::uint32_t>(who.cancel_pid),
            cancel_secret(who.cancel_key)};
        co_await forward_cancel(worker_, key);
        peer_->close();
        co_return;
    }
    if (who.what == login_outcome::kind::closed || fatal_) {
        peer_->close_after_flush();
        co_return;
    }
    if (worker_.shared.clients.load(std::memory_order_relaxed) >
        worker_.config->listen.max_clients) {
        tell(client_fatal({errc::too_many_clients, {}, std::nullopt}));
        peer_->close_after_flush();
        co_return;
    }
    user_ = who.user;
    database_ = who.database;
    client_probe_ = &worker_.probe.client(database_, user_);
    client_probe_->entered(metric_of(phase_));
    if (console::is_console(database_)) {
        set_phase(session_phase::idle);
        co_await console::serve(worker_, peer_, input_, user_);
        peer_->close_after_flush();
        co_return;
    }
    const bool welcome = co_await greet(who);
    if (welcome) {
        if (worker_.config->log.connections) {
            spdlog::info(
                "client {} {} user={} database={} logged in",
                id_,
                address_.text,
                user_,
                database_
            );
        }
        co_await serve();
    }
    co_await finish();
}

asio::awaitable<bool> session::greet(const login_outcome& who) {
    route_to_ = worker_.find_database(database_);
    if (route_to_.cluster == nullptr) {
        tell(client_fatal({errc::unknown_database, "\"" + database_ + "\"", std::nullopt}));
        co_return false;
    }
    acknowledges_ = migration::supervisor::acknowledges(*worker_.config, database_);
    start_settings(who.settings);
    const auto startup = state_.wanted();
    const auto cached = worker_.welcomes.find({database_, user_, startup});
    if (cached != worker_.welcomes.end()) {
        told_ = cached->second;
    } else {
        // The values that the client is told, and whether its settings can be made at all, only a
        // server knows.
        ask_any_server();
        set_phase(session_phase::waiting);
        co_await obtain();
        unit_.clear();
        if (!link_) {
            if (!fatal_) {
                fatal_ = injected_failure_.value_or(failure{errc::client_gone, {}, std::nullopt});
            }
            co_return false;
        }
        told_ = link_->parameters;
        unit_decided_ = false;
        wrote_ = uses_replicas_ = false;
        let_go();
        if (worker_.welcomes.size() >= 1024) {
            worker_.welcomes.clear();
        }
        worker_.welcomes[{database_, user_, startup}] = told_;
    }
    if (database_is_session_pooled()) {
        pin(routing::pin_reason::session_mode);
    }
    send_welcome();
    co_return true;
}

bool session::database_is_session_pooled() const {
    return route_to_.mode == config::pool_mode::session;
}

void session::send_welcome() {
    build_.clear();
    protocol::byte_writer writer(build_);
    if (told_) {
        for (const auto& [name, value] : *told_) {
            protocol::backend::parameter_status{name, value}.encode(writer);
        }
        // Drivers that look at it must not take the proxy for a stand-by.
        protocol::backend::parameter_status{"in_hot_standby", "off"}.encode(writer);
        note_parameters();
    }
    std::array<char, 4> secret{};
    for (std::size_t i = 0; i < secret.size(); ++i) {
        secret[i] = static_cast<char>(key_.secret >> (24U - 8U * i));
    }
    protocol::backend::backend_key_data{
        static_cast<std::int32_t>(key_.pid),
        std::string_view(secret.data(), secret.size())}
        .encode(writer);
    peer_->write(build_);
    send_ready();
    peer_->flush();
    set_phase(session_phase::idle);
    if (stopping_) {
        kill({errc::shutting_down, {}, std::nullopt});
    }
}

asio::awaitable<void> session::serve() {
    for (;;) {
        step next = advance();
        if (fatal_ || broken_) {
            next = step::finish;
        }
        if (link_) {
            link_->flush();
        }
        peer_->flush();
        switch (next) {
        case step::finish: co_return;
        case step::obtain: co_await obtain(); break;
        case step::wait_for_answers:
            input_.keep();
            co_await wake_.wait();
            break;
        case step::drain_server: {
            input_.keep();
            const auto server = link_->out_ptr();
            co_await server->drain(stream::low_water);
            break;
        }
        case step::read: {
            if (peer_->pending() > stream::high_water && (!link_ || link_->owes().empty())) {
                input_.keep();
                co_await peer_->drain(stream::low_water);  // it reads nothing of what it caused
            }
            const auto read_ec = co_await peer_->read(input_);
            if (read_ec) {
                terminated_ = false;
                co_return;
            }
            last_request_ = worker_.coarse_now;
            break;
        }
        }
    }
}

asio::awaitable<void> session::finish() {
    set_phase(session_phase::closing);
    if (terminated_ && !fatal_) {
        // Terminate says that nothing more will be asked; what was asked is still answered, unless
        // the server waits for data to copy.
        while (link_ && !link_->owes().empty() && !link_->owes().copy_in() && !unit_open_ &&
               !fatal_ && peer_->open()) {
            input_.keep();
            co_await wake_.wait();
        }
    }
    if (link_) {
        const bool cut = cutter_.in_body();
        if (!cut && !unit_open_ && link_->reusable()) {
            let_go();
        } else {
            abandon_link(cut);
        }
    }
    if (fatal_ && fatal_->code != errc::client_gone) {
        tell(client_fatal(*fatal_));
    }
    if (worker_.config->log.connections) {
        spdlog::info(
            "client {} {} user={} database={} ended{}{}",
            id_,
            address_.text,
            user_,
            database_,
            fatal_ ? ": " : "",
            fatal_ ? fatal_->context.empty() ? make_error_code(fatal_->code).message()
                                             : fatal_->context
                   : ""
        );
    }
    peer_->close_after_flush();
    while (peer_->open() && peer_->pending() != 0) {
        co_await peer_->drain(0);
    }
}

void session::pin(routing::pin_reason why) {
    if (pinned_ == routing::pin_reason::none) {
        pinned_ = why;
        worker_.probe.pins(routing::name_of(why)).add(1);
    }
}

void session::set_phase(session_phase next) {
    if (phase_ == next) {
        return;
    }
    if (client_probe_ != nullptr) {
        client_probe_->moved(metric_of(phase_), metric_of(next));
    }
    phase_ = next;
    phase_since_ = worker_.coarse_now;
}

void session::tell(const protocol::diagnostic& what) {
    worker_.probe.error(what.code.text(), metrics::error_origin::proxy);
    build_.clear();
    protocol::byte_writer writer(build_);
    protocol::backend::encode_error(writer, what);
    peer_->write(build_);
}

void session::send_ready() {
    constexpr std::array<std::uint8_t, 6> ready_idle{'Z', 0, 0, 0, 5, 'I'};
    peer_->write(ready_idle);
}

}  // namespace weir::proxy::client
