#include "proxy/monitor_watch.hpp"

#include "proxy/monitor_query.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <utility>

namespace weir::proxy {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds longest_pause = 2s;
constexpr milliseconds shortest_gap = 50ms;  // between two attempts, however hurried
constexpr milliseconds identify_again = 5s;  // after a replication connection was refused

constexpr std::string_view application = "pgweir-monitor";

}  // namespace

milliseconds retry_pause(milliseconds interval, unsigned failures) {
    auto pause = interval;
    for (unsigned i = 1; i < failures && pause < longest_pause; ++i) {
        pause *= 2;
    }
    return std::max(interval, std::min(pause, longest_pause));
}

milliseconds answer_limit(milliseconds interval) {
    return std::max<milliseconds>(2s, 5 * interval);
}

server_watch::server_watch(
    asio::io_context& io,
    const config::cluster& cluster,
    const config::server& server,
    watch_events events
)
    : io_(io),
      settings_(cluster.monitor),
      tls_(cluster.tls),
      server_(server),
      events_(std::move(events)),
      sql_(io),
      replication_(io),
      pause_(io),
      random_(std::random_device{}()) {}

void server_watch::start() {
    asio::co_spawn(io_, run(shared_from_this()), asio::detached);
}

void server_watch::stop() {
    stopped_ = true;
    pause_.cancel();
    sql_.close();
    replication_.close();
}

void server_watch::hurry() {
    hurried_ = true;
    pause_.cancel();
}

sql_target server_watch::target(sql_mode mode) const {
    return {
        .host = server_.host,
        .port = server_.port,
        .tls = tls_,
        .user = settings_.user,
        .password = settings_.password,
        .database = settings_.database,
        .application_name = std::string(application),
        .mode = mode,
    };
}

asio::awaitable<void> server_watch::run(std::shared_ptr<server_watch> self) {
    while (!self->stopped_) {
        const auto began = clock::now();
        self->hurried_ = false;
        self->events_.asked();
        const auto sample = co_await self->ask();
        if (self->stopped_) {
            co_return;
        }
        self->failures_ = sample.error.empty() ? 0 : self->failures_ + 1;
        self->events_.answered(sample);
        if (!self->stopped_ && sample.error.empty() && !sample.in_recovery &&
            self->events_.wants_heartbeat()) {
            co_await self->beat();
        }
        co_await self->wait(began);
    }
}

asio::awaitable<std::string> server_watch::connect() {
    if (sql_.connected()) {
        co_return std::string();
    }
    auto wanted = target(sql_mode::ordinary);
    const auto deadline = clock::now() + answer_limit(settings_.interval);
    auto error = co_await sql_.connect(std::move(wanted), deadline);
    co_return error;
}

// A standby that is promoted between two functions of the question refuses one of them: it is
// alive, so it is asked once more.
asio::awaitable<sql_answer> server_watch::ask_twice(clock::time_point deadline) {
    const std::string question(monitor_sql());
    auto answer = co_await sql_.query(question, deadline);
    if (!answer.ok() && sql_.connected()) {
        answer = co_await sql_.query(question, deadline);
    }
    co_return answer;
}

asio::awaitable<routing::server_sample> server_watch::ask() {
    routing::server_sample sample;
    const auto refused = co_await connect();
    const auto taken = clock::now();
    if (!refused.empty()) {
        sample.taken = taken;
        sample.error = refused;
        co_return sample;
    }
    const auto answer = co_await ask_twice(taken + answer_limit(settings_.interval));
    if (!answer.ok() || answer.rows.size() != 1 || answer.rows.columns() != monitor_columns) {
        sample.error = answer.ok() ? "unexpected answer" : answer.error;
    } else {
        monitor_row row;
        for (std::size_t i = 0; i < row.size(); ++i) {
            row[i] = answer.rows.at(0, i);
        }
        sample = sample_of(row);
    }
    sample.taken = taken;
    if (sample.error.empty() && sample.in_recovery) {
        co_await identify(sample);
    }
    co_return sample;
}

asio::awaitable<void> server_watch::identify(routing::server_sample& sample) {
    if (sample.timeline.value != 0) {
        replication_.close();
        co_return;
    }
    const auto now = clock::now();
    if (!replication_.connected()) {
        if (now < identify_after_) {
            co_return;
        }
        identify_after_ = now + identify_again;
        auto wanted = target(sql_mode::replication);
        const auto refused = co_await replication_.connect(
            std::move(wanted),
            now + answer_limit(settings_.interval)
        );
        if (!refused.empty()) {
            co_return;  // the timeline stays unknown, the last proven one counts
        }
    }
    const std::string question = "IDENTIFY_SYSTEM";
    const auto deadline = clock::now() + answer_limit(settings_.interval);
    const auto answer = co_await replication_.query(question, deadline);
    if (answer.ok() && answer.rows.size() == 1 && answer.rows.columns() >= 2) {
        sample.timeline = decimal_timeline(answer.rows.at(0, 1));
    }
}

asio::awaitable<void> server_watch::beat() {
    events_.heartbeat_written();
    const std::string statement(heartbeat_sql());
    const auto deadline = clock::now() + answer_limit(settings_.interval);
    // A failure shows in the next question.
    co_await sql_.query(statement, deadline);
}

asio::awaitable<void> server_watch::wait(clock::time_point began) {
    auto until = began + settings_.interval;
    if (failures_ > 0) {
        const auto pause = retry_pause(settings_.interval, failures_);
        std::uniform_int_distribution<milliseconds::rep> jitter(0, pause.count() / 5);
        until = began + pause + milliseconds{jitter(random_)};
    }
    while (!stopped_) {
        const auto wake = hurried_ ? began + shortest_gap : until;
        if (clock::now() >= wake) {
            co_return;
        }
        pause_.expires_at(wake);
        co_await pause_.async_wait(use_tuple);
    }
}

}  // namespace weir::proxy
