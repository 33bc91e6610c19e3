// Connections of a migration to PostgreSQL: libpq, blocking, one thread each.
#pragma once

#include <libpq-fe.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration {

struct pq_deleter {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }

    void operator()(PGresult* result) const noexcept { PQclear(result); }
};

using pq_connection = std::unique_ptr<PGconn, pq_deleter>;
using pq_result = std::unique_ptr<PGresult, pq_deleter>;

// Where to log in. `conninfo` keys in libpq's form, made by the caller.
struct source_address {
    std::string host;
    std::uint16_t port = 5432;
    std::string user;
    std::string password;  // secret
    std::string database;
    std::string sslmode = "disable";
    std::string sslrootcert;
    std::string application_name = "pgweir migration";
    friend bool operator==(const source_address&, const source_address&) = default;
};

struct sql_error {
    std::string sqlstate;  // empty: the connection was lost, or nobody answered
    std::string text;      // one line, with the server's address
};

// The rows of an answer; text or binary as was asked.
class sql_rows {
public:
    sql_rows() = default;

    explicit sql_rows(pq_result result) : result_(std::move(result)) {}

    [[nodiscard]] int size() const { return result_ ? PQntuples(result_.get()) : 0; }

    [[nodiscard]] bool is_null(int row, int column) const {
        return PQgetisnull(result_.get(), row, column) != 0;
    }

    // Valid as long as this object. NULL reads as an empty text.
    [[nodiscard]] std::string_view at(int row, int column) const {
        return {
            PQgetvalue(result_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
    }

    // Rows that an INSERT, UPDATE or DELETE touched.
    [[nodiscard]] std::uint64_t touched() const;

    [[nodiscard]] PGresult* get() const { return result_.get(); }

private:
    pq_result result_;
};

struct sql_answer {
    sql_rows rows;
    std::optional<sql_error> error;

    explicit operator bool() const noexcept { return !error; }
};

// Threads: one at a time. TCP keepalives and tcp_user_timeout are set so that
// a dead server is noticed within half a minute.
class sql_session {
public:
    sql_session() = default;

    // An error, or nothing. Sets DateStyle ISO, TimeZone UTC, extra_float_digits 1.
    [[nodiscard]] std::optional<sql_error>
    connect(const source_address& where, bool replication = false);

    [[nodiscard]] bool connected() const noexcept;

    // Several statements may stand in `text`; the last one's answer is returned.
    [[nodiscard]] sql_answer run(const std::string& text);

    // One statement with parameters in text form ($1 …); rows come back binary if asked.
    [[nodiscard]] sql_answer run(
        const std::string& text,
        std::span<const std::optional<std::string>> parameters,
        bool binary = false
    );

    void close() noexcept { connection_.reset(); }

    // How long a statement may take before the connection is given up; zero: as long as it takes.
    void limit(std::chrono::milliseconds time) noexcept { limit_ = time; }

    [[nodiscard]] PGconn* get() const noexcept { return connection_.get(); }

    [[nodiscard]] const std::string& address() const noexcept { return address_; }

private:
    [[nodiscard]] sql_answer answer(pq_result result);
    [[nodiscard]] sql_answer await_answer();

    pq_connection connection_;
    std::chrono::milliseconds limit_{0};
    std::string address_;  // "host:port/database"
};

// `text` as an SQL identifier or literal, quoted.
[[nodiscard]] std::string quoted_name(std::string_view text);
[[nodiscard]] std::string quoted_text(std::string_view text);

// The elements in the form of a text array: {"a","b"}.
[[nodiscard]] std::string text_array(std::span<const std::string> elements);

}  // namespace weir::migration
