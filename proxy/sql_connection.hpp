// A connection of the proxy's own to a server, for the control plane: libpq without blocking, on
// Asio.
#pragma once

#include "config/config.hpp"
#include "proxy/asio.hpp"
#include "proxy/libpq.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace weir::proxy {

using sql_deadline = std::chrono::steady_clock::time_point;

enum class sql_mode : std::uint8_t { ordinary, replication };

struct sql_target {
    std::string host;  // a name, an address, or the directory of a Unix socket
    std::uint16_t port = 5432;
    config::tls tls;
    std::string user;
    std::string password;
    std::string database;
    std::string application_name;
    sql_mode mode = sql_mode::ordinary;
};

// The rows of an answer, all text, valid as long as this object.
class sql_rows {
public:
    sql_rows() = default;

    explicit sql_rows(pq_result result) : result_(std::move(result)) {}

    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t columns() const;
    [[nodiscard]] std::string_view name(std::size_t column) const;
    // OID of pg_type.
    [[nodiscard]] std::uint32_t type(std::size_t column) const;
    // NULL reads as an empty text; is_null tells.
    [[nodiscard]] std::string_view at(std::size_t row, std::size_t column) const;
    [[nodiscard]] bool is_null(std::size_t row, std::size_t column) const;

private:
    pq_result result_;
};

// `error` is one line and empty on success. `sqlstate` is empty when the server did not say one.
struct sql_answer {
    sql_rows rows;
    std::string error;
    std::string sqlstate;
    std::string detail;  // several lines, or empty
    std::string hint;

    [[nodiscard]] bool ok() const noexcept { return error.empty(); }
};

// Threads: the one that runs `io`. One operation at a time. close() may come in the middle of one,
// which then ends with an error.
class sql_connection {
public:
    explicit sql_connection(asio::io_context& io);
    sql_connection(const sql_connection&) = delete;
    sql_connection& operator=(const sql_connection&) = delete;
    ~sql_connection();

    // An error, or an empty text. The name is resolved by Asio, never by libpq, which would block.
    [[nodiscard]] asio::awaitable<std::string> connect(sql_target target, sql_deadline deadline);

    // The answer of the last statement in `sql`. After an error without a SQLSTATE, or when the
    // deadline has passed, the connection is closed.
    [[nodiscard]] asio::awaitable<sql_answer> query(std::string sql, sql_deadline deadline);

    [[nodiscard]] bool connected() const noexcept { return ready_; }

    void close() noexcept;

private:
    class wake;
    [[nodiscard]] asio::awaitable<bool> ready(bool for_write, sql_deadline deadline);
    [[nodiscard]] asio::awaitable<std::string> resolve(sql_target& target, std::string& addresses);
    [[nodiscard]] asio::awaitable<std::string> shake_hands(sql_deadline deadline);
    [[nodiscard]] asio::awaitable<std::string> send(sql_deadline deadline);
    [[nodiscard]] std::string last_error() const;
    [[nodiscard]] sql_answer lost(std::string error);

    asio::io_context& io_;
    pq_connection connection_;
    std::shared_ptr<wake> wake_;
    std::uint64_t closings_ = 0;
    bool ready_ = false;
};

// The first line of a message of libpq or a server, without its trailing blanks and "ERROR:  ".
[[nodiscard]] std::string one_line(std::string_view message);

}  // namespace weir::proxy
