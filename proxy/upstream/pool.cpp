#include "proxy/upstream/pool.hpp"

#include "proxy/upstream/login.hpp"
#include "proxy/worker_context.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace weir::proxy::upstream {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t concurrent_logins = 8;
constexpr auto first_back_off = 100ms;
constexpr auto longest_back_off = 5000ms;
constexpr auto cleaning_limit = 10s;

// Errors that pass by themselves; the clients keep waiting.
bool is_congestion(const failure& why) {
    return why.diagnostic && why.diagnostic->code == protocol::sqlstates::too_many_connections;
}

std::chrono::nanoseconds waited(const waiter& who) {
    return std::chrono::steady_clock::now() - who.since;
}

}  // namespace

pool::pool(
    worker_context& worker,
    pool_target target,
    config::pool limits,
    std::shared_ptr<budget> shared
)
    : worker_(worker),
      target_(std::make_shared<const pool_target>(std::move(target))),
      limits_(limits),
      budget_(std::move(shared)),
      probe_(worker.probe.pool(
          target_->cluster->name,
          target_->cluster->servers[target_->server].name,
          target_->database
      )) {
    budget_->attach(worker_.index, [this, alive = alive_, &io = worker_.io] {
        asio::post(io, [this, alive] {
            if (*alive) {
                poked();
            }
        });
    });
}

pool::~pool() {
    *alive_ = false;
    probe_.changed(metrics::server_connection_state::idle, -static_cast<std::int64_t>(shown_.idle));
    probe_.changed(
        metrics::server_connection_state::active,
        -static_cast<std::int64_t>(shown_.active)
    );
    probe_.changed(
        metrics::server_connection_state::connecting,
        -static_cast<std::int64_t>(shown_.connecting)
    );
    probe_.changed(
        metrics::server_connection_state::closing,
        -static_cast<std::int64_t>(shown_.cleaning)
    );
    if (!retired_) {  // then the place is another pool's already
        budget_->detach(worker_.index);
    }
}

connection_ptr pool::try_take(std::uint64_t client_id, const settings_ptr& wanted) {
    if (idle_.empty() || !waiting_.empty()) {
        return nullptr;
    }
    // The most recently used one, unless one of the next few spares a change of settings.
    auto chosen = idle_.size() - 1;
    const auto last = idle_.size() > 8 ? idle_.size() - 8 : 0;
    for (auto i = idle_.size(); i-- > last;) {
        if (idle_[i]->settings == wanted) {
            chosen = i;
            break;
        }
    }
    auto taken = std::move(idle_[chosen]);
    idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(chosen));
    taken->reserve(client_id);
    probe_.no_wait();
    return taken;
}

void pool::enqueue(waiter& who) {
    if (waiting_.size() >= limits_.max_waiting) {
        who.failed = failure{errc::queue_full, {}, std::nullopt};
        who.wake.notify();
        return;
    }
    if (last_failure_ && worker_.coarse_now < retry_at_ && all_.empty() &&
        !is_congestion(*last_failure_)) {
        who.failed = last_failure_;
        who.wake.notify();
        return;
    }
    who.since = std::chrono::steady_clock::now();
    who.deadline = who.since + limits_.queue_timeout;
    who.queued = true;
    probe_.wait_began();
    waiting_.push_back(&who);
    open_more();
    publish_waiting();
}

void pool::leave(waiter& who) {
    if (!who.queued) {
        return;
    }
    who.queued = false;
    probe_.wait_ended(waited(who));
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &who));
    publish_waiting();
}

void pool::publish_waiting() {
    if (retired_) {
        return;
    }
    // Clients that a log-in under way will serve need nobody else's slot.
    const auto unserved = waiting_.size() > connecting_ ? waiting_.size() - connecting_ : 0;
    budget_->waiting(worker_.index, static_cast<std::uint32_t>(unserved));
}

void pool::grant(waiter& who, connection_ptr which) {
    which->reserve(who.client_id);
    who.queued = false;
    probe_.wait_ended(waited(who));
    who.granted = std::move(which);
    who.wake.notify();
}

void pool::open_more() {
    const auto wanted = retired_ ? 0 : std::min<std::size_t>(waiting_.size(), concurrent_logins);
    while (connecting_ < wanted && worker_.coarse_now >= retry_at_ && budget_->take(worker_.index)
    ) {
        ++connecting_;
        asio::co_spawn(worker_.io, open_one(alive_), asio::detached);
    }
}

asio::awaitable<void> pool::open_one(std::shared_ptr<bool> alive) {
    const auto target = target_;
    const auto limits = limits_;
    const auto shared = budget_;
    auto& home = worker_;
    auto outcome = co_await log_in(home, *target, limits);
    if (!*alive) {
        shared->give_back(home.index);
        co_return;
    }
    if (outcome.refused) {
        open_failed(*outcome.refused);
        co_return;
    }
    opened(make_connection(worker_, *this, *target_, limits_, std::move(outcome)));
}

void pool::opened(connection_ptr made) {
    --connecting_;
    last_failure_.reset();
    back_off_ = 0ms;
    retry_at_ = {};
    all_.insert(made.get());
    owned_[made.get()] = made;
    if (retired_) {
        made->retire();
    }
    made->start();
    publish_waiting();
}

void pool::open_failed(const failure& why) {
    --connecting_;
    budget_->give_back(worker_.index);
    last_failure_ = why;
    back_off_ =
        std::clamp<std::chrono::milliseconds>(back_off_ * 2, first_back_off, longest_back_off);
    // Workers and pools must not come back in step.
    const auto jitter =
        back_off_ / 4 * static_cast<int>((worker_.index * 7 + waiting_.size()) % 4) / 4;
    retry_at_ = worker_.coarse_now + back_off_ + jitter;
    const auto& server = target_->cluster->servers[target_->server];
    spdlog::warn(
        "log-in to server {} ({}:{}) as {} to database {} failed: {}{}",
        server.name,
        server.host,
        server.port,
        target_->user,
        target_->database,
        why.context,
        why.diagnostic ? ": " + why.diagnostic->message : ""
    );
    if (!is_congestion(why)) {
        fail_waiters(why);
    }
}

void pool::fail_waiters(const failure& why) {
    const auto all = std::exchange(waiting_, {});
    for (auto* who : all) {
        who->queued = false;
        probe_.wait_ended(waited(*who));
        who->failed = why;
        who->wake.notify();
    }
    publish_waiting();
}

void pool::became_idle(connection& which) {
    const auto shared = owned_.at(&which);
    if (which.retired() || too_old(which, worker_.coarse_now) ||
        budget_->should_yield(worker_.index, !waiting_.empty())) {
        part_with(shared);
        return;
    }
    if (!waiting_.empty()) {
        auto* const first = waiting_.front();
        waiting_.pop_front();
        grant(*first, shared);
        publish_waiting();
        return;
    }
    idle_.push_back(shared);
}

void pool::became_closed(connection& which, const failure& why) {
    const auto keep_alive = owned_.at(&which);
    take_out(which);
    budget_->give_back(worker_.index);
    if (why.context != "retired") {
        spdlog::info("connection to server {} closed: {}", which.who.server, why.context);
    }
    open_more();
    publish_waiting();
}

void pool::take_out(connection& which) {
    std::erase_if(idle_, [&](const connection_ptr& c) { return c.get() == &which; });
    all_.erase(&which);
    owned_.erase(&which);
}

void pool::part_with(const connection_ptr& which) {
    take_out(*which);
    budget_->begin_return(worker_.index);
    which->say_goodbye([this, alive = alive_, shared = budget_] {
        shared->end_return();
        if (*alive) {
            open_more();
            publish_waiting();
        }
    });
}

void pool::poked() {
    if (retired_) {
        return;
    }
    if (!waiting_.empty()) {
        open_more();
        publish_waiting();
        return;
    }
    if (!idle_.empty() && budget_->should_yield(worker_.index, false)) {
        const auto oldest = idle_.front();
        part_with(oldest);
    }
}

bool pool::too_old(const connection& which, steady_time now) const {
    if (limits_.lifetime == 0ms) {
        return false;
    }
    // Up to a tenth earlier, so that connections opened together do not end together.
    const auto early = limits_.lifetime / 10 * static_cast<int>(which.who.pid % 16) / 16;
    return now - which.created > limits_.lifetime - early;
}

void pool::tick(steady_time now) {
    for (std::size_t i = 0; i < waiting_.size();) {
        auto& who = *waiting_[i];
        const bool late = limits_.queue_timeout != 0ms && now >= who.deadline;
        if (!late && !(who.peer != nullptr && who.peer->peer_gone())) {
            ++i;
            continue;
        }
        who.queued = false;
        probe_.wait_ended(waited(who));
        who.failed = failure{late ? errc::queue_timeout : errc::client_gone, {}, std::nullopt};
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
        who.wake.notify();
    }
    const auto idle = idle_;           // closing changes the list
    auto remaining = budget_->used();  // as min, over all workers
    for (const auto& which : idle) {
        const bool unused =
            limits_.idle_timeout != 0ms && now - which->idle_since > limits_.idle_timeout;
        if (too_old(*which, now) || (unused && remaining > limits_.min)) {
            --remaining;
            part_with(which);
        }
    }
    const auto copy = owned_;
    for (const auto& [raw, which] : copy) {
        if (which->state() == connection_state::cleaning &&
            now - which->cleaning_since() > cleaning_limit) {
            which->close({errc::server_lost, "did not become clean in time", std::nullopt});
        }
    }
    poked();  // others may wait for a slot of an idle connection
    // The minimum is over all workers: whoever sees too few opens one.
    if (!retired_ && now >= retry_at_ && connecting_ == 0 && budget_->used() < limits_.min &&
        budget_->take(worker_.index)) {
        ++connecting_;
        asio::co_spawn(worker_.io, open_one(alive_), asio::detached);
    }
    publish_waiting();
    show_counts();
}

void pool::set_limits(const config::pool& limits) {
    limits_ = limits;
    budget_->set_limit(limits.size);
}

void pool::retire_all() {
    if (!std::exchange(retired_, true)) {
        budget_->detach(worker_.index);
    }
    fail_waiters({errc::server_lost, "retired", std::nullopt});
    for (const auto& [raw, which] : owned_) {
        which->retire();
    }
    const auto idle = idle_;
    for (const auto& which : idle) {
        part_with(which);
    }
}

std::int64_t pool::prepared_statements() const {
    std::int64_t held = 0;
    for (const auto* which : all_) {
        held += static_cast<std::int64_t>(which->statements.size());
    }
    return held;
}

void pool::show_counts() {
    const auto now = counts();
    const auto show = [&](metrics::server_connection_state state,
                          std::uint32_t before,
                          std::uint32_t after) {
        probe_.changed(state, static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before));
    };
    show(metrics::server_connection_state::idle, shown_.idle, now.idle);
    show(metrics::server_connection_state::active, shown_.active, now.active);
    show(metrics::server_connection_state::connecting, shown_.connecting, now.connecting);
    show(metrics::server_connection_state::closing, shown_.cleaning, now.cleaning);
    shown_ = now;
}

pool_counts pool::counts() const {
    pool_counts found;
    for (const auto* which : all_) {
        switch (which->state()) {
        case connection_state::idle: ++found.idle; break;
        case connection_state::linked: ++found.active; break;
        case connection_state::cleaning: ++found.cleaning; break;
        default: break;
        }
    }
    found.connecting = connecting_;
    found.waiting = static_cast<std::uint32_t>(waiting_.size());
    if (!waiting_.empty()) {
        found.oldest_wait = std::chrono::duration_cast<std::chrono::milliseconds>(
            worker_.coarse_now - waiting_.front()->since
        );
    }
    return found;
}

}  // namespace weir::proxy::upstream
