// The monitor's side of one server: connects, asks, and waits for the next turn. Used by monitor
// only.
#pragma once

#include "config/config.hpp"
#include "proxy/asio.hpp"
#include "proxy/sql_connection.hpp"
#include "routing/lag.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>

namespace weir::proxy {

struct watch_events {
    // A question is on its way, and what came of it (sample.error when nothing did).
    std::function<void()> asked;
    std::function<void(const routing::server_sample&)> answered;
    // Asked after an answer: shall a heartbeat be written on this server? `written` follows if it
    // was.
    std::function<bool()> wants_heartbeat;
    std::function<void()> heartbeat_written;
};

// How long to wait before the next attempt after `failures` failed ones: the interval, doubled each
// time, at most two seconds, never below the interval.
[[nodiscard]] std::chrono::milliseconds
retry_pause(std::chrono::milliseconds interval, unsigned failures);

// How long one question or one log-in may take: then the server counts as unreachable.
[[nodiscard]] std::chrono::milliseconds answer_limit(std::chrono::milliseconds interval);

class server_watch : public std::enable_shared_from_this<server_watch> {
public:
    server_watch(
        asio::io_context& io,
        const config::cluster& cluster,
        const config::server& server,
        watch_events events
    );

    void start();
    // No event comes afterwards.
    void stop();
    // Ends the wait for the next turn.
    void hurry();

private:
    using clock = std::chrono::steady_clock;

    static asio::awaitable<void> run(std::shared_ptr<server_watch> self);
    [[nodiscard]] asio::awaitable<routing::server_sample> ask();
    [[nodiscard]] asio::awaitable<std::string> connect();
    [[nodiscard]] asio::awaitable<sql_answer> ask_twice(clock::time_point deadline);
    // Fills in the timeline of a standby that receives nothing, over a replication connection.
    [[nodiscard]] asio::awaitable<void> identify(routing::server_sample& sample);
    [[nodiscard]] asio::awaitable<void> beat();
    [[nodiscard]] asio::awaitable<void> wait(clock::time_point began);
    [[nodiscard]] sql_target target(sql_mode mode) const;

    asio::io_context& io_;
    config::monitor settings_;
    config::tls tls_;
    config::server server_;
    watch_events events_;
    sql_connection sql_;
    sql_connection replication_;  // open only while the standby has no receiver
    clock::time_point identify_after_{};
    asio::steady_timer pause_;
    std::minstd_rand random_;
    unsigned failures_ = 0;
    bool hurried_ = false;
    bool stopped_ = false;
};

}  // namespace weir::proxy
