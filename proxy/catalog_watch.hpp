// The catalog loader's side of one database. Used by catalog_loader only.
#pragma once

#include "config/config.hpp"
#include "proxy/asio.hpp"
#include "proxy/sql_connection.hpp"
#include "routing/catalog.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace weir::proxy {

struct catalog_watch_options {
    std::string cluster;
    std::string database;
    config::monitor login;  // whose user and password are used
    config::tls tls;
    std::chrono::milliseconds poll{};
    routing::catalog_builder::parser parse;
    std::function<std::optional<config::server>()> choose;  // whom to ask now
    std::function<void(const routing::catalog_ptr&)> loaded;
};

class catalog_watch : public std::enable_shared_from_this<catalog_watch> {
public:
    catalog_watch(asio::io_context& io, catalog_watch_options options);

    void start();
    // `loaded` is not called afterwards.
    void stop();
    // Ends the wait for the next turn.
    void hurry();

private:
    using clock = std::chrono::steady_clock;

    static asio::awaitable<void> run(std::shared_ptr<catalog_watch> self);
    // One look: connects if needed, compares the version, loads. An error or an empty text.
    [[nodiscard]] asio::awaitable<std::string> look();
    [[nodiscard]] asio::awaitable<std::string> connect(const config::server& server);
    [[nodiscard]] asio::awaitable<std::string> load(std::string version);
    [[nodiscard]] asio::awaitable<void> wait();
    void report(const std::string& error);

    asio::io_context& io_;
    catalog_watch_options options_;
    sql_connection sql_;
    std::string connected_to_;
    std::string version_;  // of what was published
    std::string error_;    // last one, so that each is logged once
    asio::steady_timer pause_;
    unsigned failures_ = 0;
    bool hurried_ = false;
    bool stopped_ = false;
};

}  // namespace weir::proxy
