#include "tests/integration/support/libpq.hpp"

#include <stdexcept>

namespace weir::integration {
namespace {

// As libpq reads it: quoted, with backslashes before quotes and backslashes.
std::string quoted(std::string_view value) {
    std::string text = "'";
    for (const char c : value) {
        if (c == '\'' || c == '\\') {
            text += '\\';
        }
        text += c;
    }
    return text + "'";
}

PGconn* open(const endpoint& to, const login& as) {
    const auto words = "host=" + quoted(to.host) + " port=" + std::to_string(to.port) +
                       " user=" + quoted(as.user) + " password=" + quoted(as.password) +
                       " dbname=" + quoted(as.database) +
                       " connect_timeout=20 gssencmode=disable " + as.options;
    PGconn* const made = PQconnectdb(words.c_str());
    PQsetNoticeProcessor(
        made,
        [](void* /*nothing*/, const char* /*text*/) {},
        nullptr
    );
    return made;
}

}  // namespace

bool pq_result::ok() const noexcept {
    switch (PQresultStatus(get())) {
    case PGRES_BAD_RESPONSE:
    case PGRES_FATAL_ERROR:
    case PGRES_NONFATAL_ERROR: return false;
    default: return true;
    }
}

std::string pq_result::at(int row, int column) const {
    if (row >= rows() || column < 0 || column >= PQnfields(get())) {
        throw std::out_of_range("no field " + std::to_string(row) + "/" + std::to_string(column));
    }
    return {
        PQgetvalue(get(), row, column),
        static_cast<std::size_t>(PQgetlength(get(), row, column))};
}

std::string pq_result::at(int row, const char* column) const {
    return at(row, PQfnumber(get(), column));
}

bool pq_result::null_at(int row, int column) const {
    return PQgetisnull(get(), row, column) != 0;
}

std::string pq_result::code() const {
    const char* const code = PQresultErrorField(get(), PG_DIAG_SQLSTATE);
    return code == nullptr ? "" : code;
}

pq_connection::pq_connection(const endpoint& to, const login& as) : pq_connection(open(to, as)) {
    if (!ok()) {
        throw std::runtime_error("login: " + error());
    }
}

pq_connection pq_connection::try_connect(const endpoint& to, const login& as) {
    return pq_connection(open(to, as));
}

pq_result pq_connection::try_query(const std::string& sql) {
    return pq_result(PQexec(get(), sql.c_str()));
}

pq_result
pq_connection::try_query(const std::string& sql, const std::vector<std::string>& parameters) {
    std::vector<const char*> values;
    values.reserve(parameters.size());
    for (const auto& each : parameters) {
        values.push_back(each.c_str());
    }
    return pq_result(PQexecParams(
        get(),
        sql.c_str(),
        static_cast<int>(values.size()),
        nullptr,
        values.data(),
        nullptr,
        nullptr,
        0
    ));
}

pq_result pq_connection::query(const std::string& sql) {
    auto answer = try_query(sql);
    if (!answer.ok()) {
        throw std::runtime_error(sql + ": " + error());
    }
    return answer;
}

pq_result pq_connection::query(const std::string& sql, const std::vector<std::string>& parameters) {
    auto answer = try_query(sql, parameters);
    if (!answer.ok()) {
        throw std::runtime_error(sql + ": " + error());
    }
    return answer;
}

std::string pq_connection::value(const std::string& sql) {
    return query(sql).at(0, 0);
}

login login_as(const cluster& at, const std::string& user) {
    return {.user = user, .password = at.password(user), .database = at.database(), .options = {}};
}

}  // namespace weir::integration
