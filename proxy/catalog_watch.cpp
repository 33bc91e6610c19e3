#include "proxy/catalog_watch.hpp"

#include "proxy/monitor_watch.hpp"
#include "routing/catalog_queries.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::proxy {

using namespace std::chrono_literals;

namespace {

constexpr auto login_limit = 10s;
constexpr auto query_limit = 30s;
constexpr std::string_view nobody = "no server to ask";  // the monitor has said so already
constexpr auto first_pause = 200ms;

}  // namespace

catalog_watch::catalog_watch(asio::io_context& io, catalog_watch_options options)
    : io_(io), options_(std::move(options)), sql_(io), pause_(io) {}

void catalog_watch::start() {
    asio::co_spawn(io_, run(shared_from_this()), asio::detached);
}

void catalog_watch::stop() {
    stopped_ = true;
    pause_.cancel();
    sql_.close();
}

void catalog_watch::hurry() {
    hurried_ = true;
    pause_.cancel();
}

asio::awaitable<void> catalog_watch::run(std::shared_ptr<catalog_watch> self) {
    while (!self->stopped_) {
        self->hurried_ = false;
        const auto error = co_await self->look();
        if (self->stopped_) {
            co_return;
        }
        self->report(error);
        co_await self->wait();
    }
}

void catalog_watch::report(const std::string& error) {
    failures_ = error.empty() ? 0 : failures_ + 1;
    if (!error.empty() && error != error_ && error != nobody) {
        spdlog::warn(
            "cluster {}: cannot read the catalog of database {}: {}",
            options_.cluster,
            options_.database,
            error
        );
    }
    error_ = error;
}

asio::awaitable<std::string> catalog_watch::connect(const config::server& server) {
    if (sql_.connected() && connected_to_ == server.name) {
        co_return std::string();
    }
    sql_target target;
    target.host = server.host;
    target.port = server.port;
    target.tls = options_.tls;
    target.user = options_.login.user;
    target.password = options_.login.password;
    target.database = options_.database;
    target.application_name = "pgweir-catalog";
    auto error = co_await sql_.connect(std::move(target), clock::now() + login_limit);
    if (!error.empty()) {
        co_return error;
    }
    connected_to_ = server.name;
    std::string setup(routing::catalog_setup_sql());
    const auto answer = co_await sql_.query(std::move(setup), clock::now() + query_limit);
    co_return answer.error;
}

asio::awaitable<std::string> catalog_watch::look() {
    const auto server = options_.choose();
    if (!server) {
        co_return std::string(nobody);
    }
    auto refused = co_await connect(*server);
    if (!refused.empty()) {
        co_return refused;
    }
    std::string question(routing::catalog_version_sql());
    const auto answer = co_await sql_.query(std::move(question), clock::now() + query_limit);
    if (!answer.ok() || answer.rows.size() != 1 || answer.rows.columns() != 1) {
        co_return answer.ok() ? std::string("unexpected answer") : answer.error;
    }
    std::string version(answer.rows.at(0, 0));
    if (version == version_) {
        co_return std::string();
    }
    auto error = co_await load(std::move(version));
    co_return error;
}

asio::awaitable<std::string> catalog_watch::load(std::string version) {
    routing::catalog_builder builder(options_.parse);
    for (const auto& query : routing::catalog_queries()) {
        std::string sql(query.sql);
        const auto answer = co_await sql_.query(std::move(sql), clock::now() + query_limit);
        if (!answer.ok()) {
            co_return answer.error;
        }
        std::vector<std::string_view> row(answer.rows.columns());
        for (std::size_t r = 0; r < answer.rows.size(); ++r) {
            for (std::size_t c = 0; c < row.size(); ++c) {
                row[c] = answer.rows.at(r, c);
            }
            if (!builder.add(query.rows, row)) {
                co_return "a row of the catalog cannot be read";
            }
        }
    }
    auto snapshot = builder.build(version);
    if (snapshot == nullptr) {
        co_return "the catalog is incomplete";
    }
    if (!stopped_) {
        version_ = std::move(version);
        options_.loaded(snapshot);
    }
    co_return std::string();
}

asio::awaitable<void> catalog_watch::wait() {
    const auto began = clock::now();
    const auto pause = failures_ == 0 ? options_.poll : retry_pause(first_pause, failures_);
    while (!stopped_) {
        const auto until = began + (hurried_ ? std::min<clock::duration>(pause, 100ms) : pause);
        if (clock::now() >= until) {
            co_return;
        }
        pause_.expires_at(until);
        co_await pause_.async_wait(use_tuple);
    }
}

}  // namespace weir::proxy
