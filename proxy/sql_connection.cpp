#include "proxy/sql_connection.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace weir::proxy {
namespace {

const char* ssl_mode(config::tls_mode mode) {
    switch (mode) {
    case config::tls_mode::disable: return "disable";
    case config::tls_mode::allow: return "allow";
    case config::tls_mode::prefer: return "prefer";
    case config::tls_mode::require: return "require";
    case config::tls_mode::verify_ca: return "verify-ca";
    case config::tls_mode::verify_full: return "verify-full";
    }
    return "verify-full";
}

bool is_socket_directory(const std::string& host) {
    return !host.empty() && host.front() == '/';
}

// "x" once per element of the comma-separated list `like`: libpq wants hosts and ports to match
// addresses.
std::string repeated(const std::string& x, const std::string& like) {
    std::string list = x;
    for (const char c : like) {
        if (c == ',') {
            list += ',' + x;
        }
    }
    return list;
}

// Keywords and values as libpq takes them. Values given here beat its environment variables.
class parameters_for {
public:
    parameters_for(const sql_target& target, const std::string& addresses)
        : host_(repeated(target.host, addresses)),
          port_(repeated(std::to_string(target.port), addresses)) {
        add("host", host_);
        add("hostaddr", addresses);
        add("port", port_);
        add("user", target.user);
        add("password", target.password);
        add("dbname", target.database);
        add("application_name", target.application_name);
        add("replication", target.mode == sql_mode::replication ? "database" : "");
        add("sslmode", ssl_mode(target.tls.mode));
        if (target.tls.mode >= config::tls_mode::verify_ca) {
            add("sslrootcert", target.tls.ca);
        }
        add("sslcert", target.tls.certificate);
        add("sslkey", target.tls.key);
        add("gssencmode", "disable");
        add("client_encoding", "UTF8");
        // A commit of ours must not wait for a standby that may be down.
        add("options", "-c synchronous_commit=local -c DateStyle=ISO");
        add("keepalives_idle", "5");
        add("keepalives_interval", "2");
        add("keepalives_count", "3");
    }

    [[nodiscard]] PGconn* start() {
        keywords_.push_back(nullptr);
        values_.push_back(nullptr);
        return PQconnectStartParams(keywords_.data(), values_.data(), 0);
    }

private:
    void add(const char* keyword, const char* value) {
        keywords_.push_back(keyword);
        values_.push_back(value);
    }

    void add(const char* keyword, const std::string& value) {
        if (!value.empty()) {
            add(keyword, value.c_str());
        }
    }

    std::string host_;
    std::string port_;
    std::vector<const char*> keywords_;
    std::vector<const char*> values_;
};

void ignore_notice(void*, const PGresult*) {}

std::string field(const PGresult* result, int code) {
    const char* text = PQresultErrorField(result, code);
    return text == nullptr ? "" : text;
}

sql_answer answer_of(pq_result result) {
    sql_answer answer;
    const auto status = PQresultStatus(result.get());
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) {
        answer.rows = sql_rows(std::move(result));
        return answer;
    }
    answer.sqlstate = field(result.get(), PG_DIAG_SQLSTATE);
    answer.error = one_line(field(result.get(), PG_DIAG_MESSAGE_PRIMARY));
    if (answer.error.empty()) {
        answer.error = one_line(PQresultErrorMessage(result.get()));
    }
    if (answer.error.empty()) {
        answer.error = "unexpected answer";
    }
    answer.detail = field(result.get(), PG_DIAG_MESSAGE_DETAIL);
    answer.hint = field(result.get(), PG_DIAG_MESSAGE_HINT);
    return answer;
}

}  // namespace

std::string one_line(std::string_view message) {
    auto line = message.substr(0, message.find('\n'));
    for (const std::string_view prefix : {"ERROR:  ", "FATAL:  ", "PANIC:  "}) {
        if (line.starts_with(prefix)) {
            line.remove_prefix(prefix.size());
        }
    }
    const auto end = line.find_last_not_of(" \t\r");
    return std::string(line.substr(0, end == std::string_view::npos ? 0 : end + 1));
}

std::size_t sql_rows::size() const {
    return static_cast<std::size_t>(PQntuples(result_.get()));
}

std::size_t sql_rows::columns() const {
    return static_cast<std::size_t>(PQnfields(result_.get()));
}

std::string_view sql_rows::name(std::size_t column) const {
    return PQfname(result_.get(), static_cast<int>(column));
}

std::uint32_t sql_rows::type(std::size_t column) const {
    return PQftype(result_.get(), static_cast<int>(column));
}

std::string_view sql_rows::at(std::size_t row, std::size_t column) const {
    const auto r = static_cast<int>(row);
    const auto c = static_cast<int>(column);
    return {
        PQgetvalue(result_.get(), r, c),
        static_cast<std::size_t>(PQgetlength(result_.get(), r, c))};
}

bool sql_rows::is_null(std::size_t row, std::size_t column) const {
    return PQgetisnull(result_.get(), static_cast<int>(row), static_cast<int>(column)) != 0;
}

// Waits for libpq's socket, with a deadline. The descriptor is lent by libpq for one wait at a
// time: libpq may close it and open another between two steps, which Asio must not notice too late.
class sql_connection::wake : public std::enable_shared_from_this<sql_connection::wake> {
public:
    explicit wake(asio::io_context& io) : descriptor_(io), timer_(io) {}

    wake(const wake&) = delete;
    wake& operator=(const wake&) = delete;

    ~wake() { interrupt(); }

    [[nodiscard]] bool begin(int fd, sql_deadline deadline) {
        error_code assign_ec;
        descriptor_.assign(fd, assign_ec);
        if (assign_ec) {
            return false;
        }
        timer_.expires_at(deadline);
        timer_.async_wait([weak = weak_from_this(), turn = ++turn_](const error_code& timer_ec) {
            const auto self = weak.lock();
            if (!timer_ec && self != nullptr && self->turn_ == turn) {
                self->expired_ = true;
                self->interrupt();
            }
        });
        return true;
    }

    [[nodiscard]] asio::posix::stream_descriptor& descriptor() noexcept { return descriptor_; }

    // Takes the descriptor away from Asio without closing it; a wait in progress is aborted.
    void interrupt() {
        ++turn_;
        timer_.cancel();
        if (descriptor_.is_open()) {
            static_cast<void>(descriptor_.release());
        }
    }

    [[nodiscard]] bool expired() const noexcept { return expired_; }

    void forget_expiry() noexcept { expired_ = false; }

private:
    asio::posix::stream_descriptor descriptor_;
    asio::steady_timer timer_;
    std::uint64_t turn_ = 0;
    bool expired_ = false;
};

sql_connection::sql_connection(asio::io_context& io) : io_(io), wake_(std::make_shared<wake>(io)) {}

sql_connection::~sql_connection() {
    close();
}

void sql_connection::close() noexcept {
    ready_ = false;
    ++closings_;
    wake_->interrupt();
    connection_.reset();
}

std::string sql_connection::last_error() const {
    if (wake_->expired()) {
        return "timed out";
    }
    if (connection_ == nullptr) {
        return "connection closed";
    }
    const auto line = one_line(PQerrorMessage(connection_.get()));
    return line.empty() ? "connection lost" : line;
}

sql_answer sql_connection::lost(std::string error) {
    close();
    sql_answer answer;
    answer.error = std::move(error);
    return answer;
}

asio::awaitable<bool> sql_connection::ready(bool for_write, sql_deadline deadline) {
    const auto waiting = wake_;
    if (!waiting->begin(PQsocket(connection_.get()), deadline)) {
        co_return false;
    }
    using descriptor = asio::posix::stream_descriptor;
    const auto what = for_write ? descriptor::wait_write : descriptor::wait_read;
    const auto [wait_ec] = co_await waiting->descriptor().async_wait(what, use_tuple);
    waiting->interrupt();
    co_return !wait_ec && connection_ != nullptr;
}

asio::awaitable<std::string> sql_connection::resolve(sql_target& target, std::string& addresses) {
    if (is_socket_directory(target.host)) {
        co_return std::string();
    }
    asio::ip::tcp::resolver resolver(io_);
    const auto port = std::to_string(target.port);
    const auto [resolve_ec, found] = co_await resolver.async_resolve(target.host, port, use_tuple);
    if (resolve_ec) {
        co_return "cannot resolve " + target.host + ": " + resolve_ec.message();
    }
    for (const auto& entry : found) {
        const auto address = entry.endpoint().address().to_string();
        addresses += addresses.empty() ? address : "," + address;
    }
    co_return std::string();
}

asio::awaitable<std::string> sql_connection::shake_hands(sql_deadline deadline) {
    auto step = PGRES_POLLING_WRITING;
    while (step == PGRES_POLLING_WRITING || step == PGRES_POLLING_READING) {
        const bool can_go_on = co_await ready(step == PGRES_POLLING_WRITING, deadline);
        if (!can_go_on) {
            co_return last_error();
        }
        step = PQconnectPoll(connection_.get());
    }
    if (step != PGRES_POLLING_OK || PQsetnonblocking(connection_.get(), 1) != 0) {
        co_return last_error();
    }
    co_return std::string();
}

asio::awaitable<std::string> sql_connection::connect(sql_target target, sql_deadline deadline) {
    close();
    wake_->forget_expiry();
    const auto closings = closings_;
    std::string addresses;
    auto error = co_await resolve(target, addresses);
    if (error.empty() && closings != closings_) {
        error = "connection closed";
    }
    if (!error.empty()) {
        co_return error;
    }
    parameters_for parameters(target, addresses);
    connection_.reset(parameters.start());
    if (connection_ == nullptr || PQstatus(connection_.get()) == CONNECTION_BAD) {
        error = last_error();
        close();
        co_return error;
    }
    PQsetNoticeReceiver(connection_.get(), ignore_notice, nullptr);
    error = co_await shake_hands(deadline);
    if (!error.empty()) {
        close();
    }
    ready_ = error.empty();
    co_return error;
}

// Gets what was queued by PQsendQuery out of libpq's buffer.
asio::awaitable<std::string> sql_connection::send(sql_deadline deadline) {
    int more = PQflush(connection_.get());
    while (more == 1) {
        const bool can_go_on = co_await ready(true, deadline);
        if (!can_go_on) {
            co_return last_error();
        }
        more = PQflush(connection_.get());
    }
    co_return more == 0 ? std::string() : last_error();
}

asio::awaitable<sql_answer> sql_connection::query(std::string sql, sql_deadline deadline) {
    if (!ready_) {
        co_return lost("not connected");
    }
    wake_->forget_expiry();
    if (PQsendQuery(connection_.get(), sql.c_str()) == 0) {
        co_return lost(last_error());
    }
    const auto unsent = co_await send(deadline);
    if (!unsent.empty()) {
        co_return lost(unsent);
    }
    sql_answer answer;
    while (true) {
        while (PQisBusy(connection_.get()) != 0) {
            const bool can_go_on = co_await ready(false, deadline);
            if (!can_go_on || PQconsumeInput(connection_.get()) == 0) {
                co_return lost(last_error());
            }
        }
        pq_result result(PQgetResult(connection_.get()));
        if (result == nullptr) {
            break;
        }
        if (answer.ok()) {
            answer = answer_of(std::move(result));
        }
    }
    if (PQstatus(connection_.get()) == CONNECTION_BAD) {
        if (answer.ok()) {
            answer.error = last_error();
        }
        close();
    }
    co_return answer;
}

}  // namespace weir::proxy
