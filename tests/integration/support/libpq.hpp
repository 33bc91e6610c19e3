// Owning wrappers of libpq for tests: a connection and what it answers. Everything that goes wrong
// is an exception with libpq's text, except where a function says otherwise.
#pragma once

#include "tests/integration/support/cluster.hpp"

#include <libpq-fe.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::integration {

struct login {
    std::string user = "app";
    std::string password;
    std::string database = "app";
    std::string options;  // more of a connection string, as "sslmode=require"
};

class pq_result {
public:
    explicit pq_result(PGresult* made) : result_(made, &PQclear) {}

    [[nodiscard]] PGresult* get() const noexcept { return result_.get(); }

    [[nodiscard]] bool ok() const noexcept;

    [[nodiscard]] int rows() const noexcept { return PQntuples(get()); }

    // Text of a field; NULL is "".
    [[nodiscard]] std::string at(int row, int column) const;
    // The field of that column's name.
    [[nodiscard]] std::string at(int row, const char* column) const;
    [[nodiscard]] bool null_at(int row, int column) const;

    // SQLSTATE, empty without an error.
    [[nodiscard]] std::string code() const;

    [[nodiscard]] std::string message() const { return PQresultErrorMessage(get()); }

private:
    std::unique_ptr<PGresult, decltype(&PQclear)> result_;
};

class pq_connection {
public:
    pq_connection(const endpoint& to, const login& as);
    // Also when it failed; look at ok().
    [[nodiscard]] static pq_connection try_connect(const endpoint& to, const login& as);

    [[nodiscard]] PGconn* get() const noexcept { return connection_.get(); }

    [[nodiscard]] bool ok() const noexcept { return PQstatus(get()) == CONNECTION_OK; }

    [[nodiscard]] std::string error() const { return PQerrorMessage(get()); }

    // By the simple protocol; errors are in the result.
    pq_result try_query(const std::string& sql);  // NOLINT(modernize-use-nodiscard)
    // By the extended protocol, unnamed; parameters as text.
    pq_result try_query(  // NOLINT(modernize-use-nodiscard)
        const std::string& sql,
        const std::vector<std::string>& parameters
    );
    // Throws std::runtime_error when the server answers with an error.
    pq_result query(const std::string& sql);  // NOLINT(modernize-use-nodiscard)
    pq_result query(                          // NOLINT(modernize-use-nodiscard)
        const std::string& sql,
        const std::vector<std::string>& parameters
    );
    // The first field of the first row.
    std::string value(const std::string& sql);  // NOLINT(modernize-use-nodiscard)

private:
    explicit pq_connection(PGconn* made) : connection_(made, &PQfinish) {}

    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

// A login of one of the cluster's users.
[[nodiscard]] login login_as(const cluster& at, const std::string& user = "app");

}  // namespace weir::integration
