// One worker's connections to one server for one database and user. Lends them in the order in
// which clients came, keeps within the budget that all workers share, opens and retires
// connections. Belongs to the worker's thread.
#pragma once

#include "config/config.hpp"
#include "metrics/probe.hpp"
#include "proxy/signal.hpp"
#include "proxy/upstream/budget.hpp"
#include "proxy/upstream/connection.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weir::proxy::upstream {

using connection_ptr = std::shared_ptr<connection>;

// Where a pool's connections go and as whom.
struct pool_target {
    std::shared_ptr<const config::cluster> cluster;
    std::size_t server = 0;  // index into cluster->servers
    std::string database;    // on the server
    std::string user;
    std::string secret;
};

// A client in the queue. Lives in its session; the pool forgets it before it calls notify().
struct waiter {
    explicit waiter(signal& wake_up) : wake(wake_up) {}

    signal& wake;
    std::uint64_t client_id = 0;
    steady_time since{};
    steady_time deadline{};
    weir::proxy::stream* peer = nullptr;  // looked at while nobody reads it
    connection_ptr granted;
    std::optional<failure> failed;
    bool queued = false;
};

struct pool_counts {
    std::uint32_t idle = 0;
    std::uint32_t active = 0;
    std::uint32_t connecting = 0;
    std::uint32_t cleaning = 0;
    std::uint32_t waiting = 0;
    std::chrono::milliseconds oldest_wait{};
};

class pool final : public connection_owner {
public:
    pool(
        worker_context& worker,
        pool_target target,
        config::pool limits,
        std::shared_ptr<budget> shared
    );
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;
    ~pool();

    // A connection at once: reserved for the client, or null. Never past somebody who waits.
    [[nodiscard]] connection_ptr try_take(std::uint64_t client_id, const settings_ptr& wanted);
    // Joins the queue; `wake` is notified with `granted` or `failed` set. Call leave() if the
    // client gives up first.
    void enqueue(waiter& who);
    void leave(waiter& who);

    // The janitor's: deadlines, idle and old connections, the minimum.
    void tick(steady_time now);
    // Another worker needs a slot, or has given one back.
    void poked();

    // Fails those who wait; they choose their server again.
    void send_away(const failure& why) { fail_waiters(why); }

    // New limits after a reload.
    void set_limits(const config::pool& limits);
    // Closes what is idle and retires the rest: the server has left the configuration or changed.
    // Those who wait are woken with a failure and ask the pool that has taken its place.
    void retire_all();

    // Retired, and nothing refers to it any more.
    [[nodiscard]] bool finished() const noexcept {
        return retired_ && all_.empty() && connecting_ == 0 && waiting_.empty();
    }

    [[nodiscard]] pool_counts counts() const;
    [[nodiscard]] std::int64_t prepared_statements() const;

    [[nodiscard]] std::shared_ptr<const pool_target> target() const noexcept { return target_; }

    [[nodiscard]] const std::unordered_set<connection*>& connections() const noexcept {
        return all_;
    }

    // The last reason why no connection could be had; empty when the last log-in went well.
    [[nodiscard]] const std::optional<failure>& last_failure() const noexcept {
        return last_failure_;
    }

    void became_idle(connection& which) override;
    void became_closed(connection& which, const failure& why) override;

private:
    void open_more();
    asio::awaitable<void> open_one(std::shared_ptr<bool> alive);
    void opened(connection_ptr made);
    void open_failed(const failure& why);
    void fail_waiters(const failure& why);
    void grant(waiter& who, connection_ptr which);
    void take_out(connection& which);
    // Ends an unused connection; its slot is free when the server has nothing of it any more.
    void part_with(const connection_ptr& which);
    void publish_waiting();
    void show_counts();
    [[nodiscard]] bool too_old(const connection& which, steady_time now) const;

    worker_context& worker_;
    std::shared_ptr<const pool_target> target_;
    config::pool limits_;
    std::shared_ptr<budget> budget_;
    metrics::pool_probe probe_;
    pool_counts shown_;  // what the gauges say
    std::deque<waiter*> waiting_;
    std::vector<connection_ptr> idle_;  // the last one is the most recently used
    std::unordered_set<connection*> all_;
    std::unordered_map<connection*, connection_ptr> owned_;
    std::uint32_t connecting_ = 0;
    bool retired_ = false;
    std::optional<failure> last_failure_;
    steady_time retry_at_{};
    std::chrono::milliseconds back_off_{0};
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace weir::proxy::upstream
