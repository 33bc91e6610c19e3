#include "proxy/cli/cli.hpp"
#include "proxy/cli/commands.hpp"
#include "proxy/cli/table.hpp"
#include "proxy/sql_connection.hpp"

#include <boost/asio/co_spawn.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <utility>

namespace weir::proxy::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto limit = 100s;  // a command for a migration may take 90

column_kind kind_of(std::uint32_t type) {
    switch (type) {
    case 16: return column_kind::boolean;
    case 20:
    case 701: return column_kind::number;
    default: return column_kind::text;
    }
}

table table_of(const sql_rows& from) {
    table made;
    for (std::size_t i = 0; i < from.columns(); ++i) {
        made.columns.push_back({.name = std::string(from.name(i)), .kind = kind_of(from.type(i))});
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
        auto& row = made.rows.emplace_back();
        for (std::size_t j = 0; j < from.columns(); ++j) {
            row.push_back(
                from.is_null(i, j) ? std::nullopt : std::optional(std::string(from.at(i, j)))
            );
        }
    }
    return made;
}

asio::awaitable<void>
talk(asio::io_context& io, const console_options& to, std::string command, sql_answer& into) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    sql_connection sql(io);
    sql_target target;
    target.host = to.host;
    target.port = to.port;
    target.tls.mode = config::tls_mode::prefer;
    target.user = to.user;
    target.database = "pgweir";
    target.application_name = "pgweir";
    into.error = co_await sql.connect(std::move(target), deadline);
    if (!into.error.empty()) {
        co_return;
    }
    auto answered = co_await sql.query(std::move(command), deadline);
    into = std::move(answered);
}

}  // namespace

std::string quote(const std::string& text) {
    std::string made = "'";
    for (const char c : text) {
        made.append(c == '\'' ? 2 : 1, c);
    }
    return made + "'";
}

std::string quote_name(const std::string& name) {
    std::string made = "\"";
    for (const char c : name) {
        made.append(c == '"' ? 2 : 1, c);
    }
    return made + "\"";
}

int ask(const console_options& options, const std::string& command) {
    asio::io_context io(1);
    sql_answer answered;
    asio::co_spawn(io, talk(io, options, command, answered), [](const std::exception_ptr& error) {
        if (error) {
            std::rethrow_exception(error);
        }
    });
    io.run();
    if (!answered.ok()) {
        std::fprintf(
            stderr,
            "pgweir at %s:%d: %s\n",
            options.host.c_str(),
            int{options.port},
            answered.error.c_str()
        );
        for (const auto& more : {answered.detail, answered.hint}) {
            if (!more.empty()) {
                std::fprintf(stderr, "%s\n", more.c_str());
            }
        }
        return exit_failure;
    }
    const auto rows = table_of(answered.rows);
    std::fputs((options.json ? to_json(rows) : to_text(rows)).c_str(), stdout);
    return 0;
}

}  // namespace weir::proxy::cli
