#include "migration/sql.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace weir::migration {
namespace {

// The first line, without "ERROR:  ".
std::string one_line(std::string_view message) {
    message = message.substr(0, message.find('\n'));
    for (const std::string_view front : {"ERROR:  ", "FATAL:  "}) {
        if (message.starts_with(front)) {
            message.remove_prefix(front.size());
        }
    }
    return std::string(message);
}

constexpr std::chrono::seconds connect_limit{10};

// Until it is connected, has failed, or took too long. As PQconnectdbParams, but a refusal comes
// with its SQLSTATE, which libpq puts into the text only, and only if it was asked for before.
void finish_connecting(PGconn* connection) {
    using std::chrono::steady_clock;
    const auto until = steady_clock::now() + connect_limit;
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    auto next = PGRES_POLLING_WRITING;
    while (next == PGRES_POLLING_WRITING || next == PGRES_POLLING_READING) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
        const auto events = static_cast<short>(next == PGRES_POLLING_READING ? POLLIN : POLLOUT);
        pollfd one{.fd = PQsocket(connection), .events = events, .revents = 0};
        if (left <= 0) {
            break;
        }
        if (poll(&one, 1, static_cast<int>(left)) > 0) {  // not before: it would take that for done
            next = PQconnectPoll(connection);
        }
    }
    PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
}

// Takes the SQLSTATE out of "FATAL:  28P01: password authentication failed"; empty: none.
std::string take_state(std::string& message) {
    constexpr std::size_t length = 5;
    for (auto at = message.find(":  "); at != std::string::npos; at = message.find(":  ", at + 1)) {
        auto state = message.substr(at + 3, length);
        const bool code = std::all_of(state.begin(), state.end(), [](unsigned char each) {
            return std::isdigit(each) != 0 || std::isupper(each) != 0;
        });
        if (state.size() == length && code && message.compare(at + 3 + length, 2, ": ") == 0) {
            message.erase(at + 3, length + 2);
            return state;
        }
    }
    return {};
}

}  // namespace

std::uint64_t sql_rows::touched() const {
    const std::string_view text = result_ ? PQcmdTuples(result_.get()) : "";
    std::uint64_t count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
}

std::optional<sql_error> sql_session::connect(const source_address& where, bool replication) {
    address_ = where.host + ":" + std::to_string(where.port) + "/" + where.database;
    const auto port = std::to_string(where.port);
    const std::array<const char*, 15> keys = {
        "host",
        "port",
        "user",
        "password",
        "dbname",
        "sslmode",
        "sslrootcert",
        "application_name",
        "connect_timeout",
        "keepalives_idle",
        "keepalives_interval",
        "tcp_user_timeout",
        "options",
        "replication",
        nullptr};
    const std::array<const char*, 15> values = {
        where.host.c_str(),
        port.c_str(),
        where.user.c_str(),
        where.password.c_str(),
        where.database.c_str(),
        where.sslmode.c_str(),
        where.sslrootcert.c_str(),
        where.application_name.c_str(),
        "10",
        "10",
        "5",
        "30000",
        "-c DateStyle=ISO -c TimeZone=UTC -c extra_float_digits=1 -c IntervalStyle=iso_8601",
        replication ? "database" : nullptr,
        nullptr};
    connection_.reset(PQconnectStartParams(keys.data(), values.data(), 0));
    if (PQstatus(connection_.get()) != CONNECTION_BAD) {
        finish_connecting(get());
    }
    if (PQstatus(connection_.get()) != CONNECTION_OK) {
        std::string said = PQerrorMessage(get());
        auto state = take_state(said);
        said = said.empty() ? "no answer in time" : one_line(said);
        close();
        return sql_error{.sqlstate = std::move(state), .text = address_ + ": " + said};
    }
    PQsetNoticeProcessor(
        get(),
        [](void*, const char*) {},
        nullptr
    );
    return std::nullopt;
}

bool sql_session::connected() const noexcept {
    return connection_ && PQstatus(connection_.get()) == CONNECTION_OK;
}

sql_answer sql_session::answer(pq_result result) {
    const auto status = PQresultStatus(result.get());
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY ||
        status == PGRES_COPY_BOTH || status == PGRES_COPY_IN || status == PGRES_COPY_OUT) {
        return {.rows = sql_rows(std::move(result)), .error = {}};
    }
    const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    const std::string_view said =
        result ? PQresultErrorMessage(result.get()) : PQerrorMessage(get());
    sql_error error{
        .sqlstate = state == nullptr ? "" : state,
        .text = address_ + ": " + one_line(said.empty() ? "connection lost" : said)};
    if (!connected()) {
        error.sqlstate.clear();
        close();
    }
    return {.rows = {}, .error = std::move(error)};
}

// What was sent is answered within the limit, or the connection is closed. As PQexec, the last of
// several answers.
sql_answer sql_session::await_answer() {
    using std::chrono::steady_clock;
    const auto until = steady_clock::now() + limit_;
    pq_result last;
    for (;;) {
        while (PQisBusy(get()) != 0) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
            pollfd one{.fd = PQsocket(get()), .events = POLLIN, .revents = 0};
            if (left <= 0 ||
                (poll(&one, 1, static_cast<int>(left)) > 0 && PQconsumeInput(get()) == 0)) {
                close();
                return {.rows = {}, .error = sql_error{{}, address_ + ": no answer in time"}};
            }
        }
        pq_result next(PQgetResult(get()));
        if (!next) {
            return answer(std::move(last));
        }
        last = std::move(next);
    }
}

sql_answer sql_session::run(const std::string& text) {
    if (!connected()) {
        return {.rows = {}, .error = sql_error{{}, address_ + ": not connected"}};
    }
    if (limit_ != limit_.zero() && PQsendQuery(get(), text.c_str()) == 1) {
        return await_answer();
    }
    return answer(pq_result(PQexec(get(), text.c_str())));
}

sql_answer sql_session::run(
    const std::string& text,
    std::span<const std::optional<std::string>> parameters,
    bool binary
) {
    if (!connected()) {
        return {.rows = {}, .error = sql_error{{}, address_ + ": not connected"}};
    }
    std::vector<const char*> values;
    values.reserve(parameters.size());
    for (const auto& parameter : parameters) {
        values.push_back(parameter ? parameter->c_str() : nullptr);
    }
    const int format = binary ? 1 : 0;
    const auto count = static_cast<int>(values.size());
    if (limit_ != limit_.zero() && PQsendQueryParams(
                                       get(),
                                       text.c_str(),
                                       count,
                                       nullptr,
                                       values.data(),
                                       nullptr,
                                       nullptr,
                                       format
                                   ) == 1) {
        return await_answer();
    }
    return answer(pq_result(
        PQexecParams(get(), text.c_str(), count, nullptr, values.data(), nullptr, nullptr, format)
    ));
}

std::string quoted_name(std::string_view text) {
    std::string quoted = "\"";
    for (const char byte : text) {
        quoted += byte;
        if (byte == '"') {
            quoted += byte;
        }
    }
    return quoted += '"';
}

std::string quoted_text(std::string_view text) {
    std::string quoted = " E'";
    for (const char byte : text) {
        if (byte == '\'' || byte == '\\') {
            quoted += '\\';
        }
        quoted += byte;
    }
    return quoted += '\'';
}

std::string text_array(std::span<const std::string> elements) {
    std::string array = "{";
    for (const auto& element : elements) {
        array += array.size() == 1 ? "\"" : ",\"";
        for (const char byte : element) {
            if (byte == '"' || byte == '\\') {
                array += '\\';
            }
            array += byte;
        }
        array += '"';
    }
    return array += '}';
}

}  // namespace weir::migration
