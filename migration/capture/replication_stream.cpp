#include "migration/capture/replication_stream.hpp"

#include "protocol/byte_writer.hpp"
#include "routing/position.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace weir::migration {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds slowest_feedback{10'000};
constexpr int options_in_parentheses = 170'000;  // CREATE_REPLICATION_SLOT's, with FAILOVER

std::string single_line(std::string_view message) {
    message = message.substr(0, message.find('\n'));
    for (const std::string_view front : {"ERROR:  ", "FATAL:  "}) {
        if (message.starts_with(front)) {
            message.remove_prefix(front.size());
        }
    }
    return std::string(message);
}

// In a replication command: no escapes but the doubled quote.
std::string literal(std::string_view text) {
    std::string quoted = "'";
    for (const char byte : text) {
        quoted += byte;
        if (byte == '\'') {
            quoted += byte;
        }
    }
    return quoted += '\'';
}

template <typename Number>
Number number_of(std::string_view text) {
    Number read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    return read;
}

std::uint64_t lsn_of(std::string_view text) {
    const auto read = routing::parse_lsn(text);
    return read ? read->value : 0;
}

// As the server's clock counts: microseconds since 2000.
std::int64_t server_time() {
    using std::chrono::system_clock;
    constexpr std::int64_t to_2000 = 946'684'800'000'000;
    const auto now = system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count() - to_2000;
}

}  // namespace

std::optional<sql_error> replication_stream::connect(const source_address& where) {
    held_.reset();
    return session_.connect(where, true);
}

void replication_stream::close() noexcept {
    held_.reset();
    session_.close();
}

sql_result<system_identity> replication_stream::identify() {
    auto answer = command("IDENTIFY_SYSTEM");
    if (!answer) {
        return *answer.error;
    }
    return system_identity{
        .system_identifier = number_of<std::uint64_t>(answer.rows.at(0, 0)),
        .timeline = number_of<std::uint32_t>(answer.rows.at(0, 1)),
        .flushed = lsn_of(answer.rows.at(0, 2))};
}

sql_result<std::vector<timeline_end>> replication_stream::timeline_history(std::uint32_t timeline) {
    if (timeline <= 1) {
        return std::vector<timeline_end>();
    }
    auto answer = command("TIMELINE_HISTORY " + std::to_string(timeline));
    if (!answer) {
        return *answer.error;
    }
    auto history = parse_history(answer.rows.at(0, 1));
    if (!history) {
        return sql_error{"58030", address() + ": the history of the timeline cannot be read"};
    }
    return std::move(*history);
}

sql_result<std::uint64_t> replication_stream::create_slot(const std::string& name, bool failover) {
    auto text = "CREATE_REPLICATION_SLOT " + quoted_name(name) + " LOGICAL pgoutput ";
    const bool newer = PQserverVersion(session_.get()) >= options_in_parentheses;
    text += !newer     ? "NOEXPORT_SNAPSHOT"
            : failover ? "(SNAPSHOT 'nothing', FAILOVER)"
                       : "(SNAPSHOT 'nothing')";
    auto answer = command(text);
    if (!answer) {
        return *answer.error;
    }
    return lsn_of(answer.rows.at(0, 1));
}

std::optional<sql_error> replication_stream::start(const start_request& request) {
    if (auto error = read_timeout()) {
        return error;
    }
    std::string publications;
    for (const auto& name : request.publications) {
        publications += (publications.empty() ? "" : ",") + quoted_name(name);
    }
    auto answer = command(
        "START_REPLICATION SLOT " + quoted_name(request.slot) + " LOGICAL " +
        routing::to_string({request.from}) + " (proto_version '1', publication_names " +
        literal(publications) + ", binary 'true')"
    );
    if (!answer) {
        return answer.error;
    }
    confirmed_ = request.from;
    feedback_due_ = steady_clock::now() + feedback_interval_;
    return std::nullopt;
}

// Feedback is due three times within the time after which the server gives up.
std::optional<sql_error> replication_stream::read_timeout() {
    auto answer =
        command("SELECT setting FROM pg_catalog.pg_settings WHERE name = 'wal_sender_timeout'");
    if (!answer) {
        return answer.error;
    }
    const auto timeout = number_of<std::int64_t>(answer.rows.at(0, 0));
    feedback_interval_ = slowest_feedback;
    if (timeout > 0) {
        feedback_interval_ = std::min(slowest_feedback, milliseconds(timeout / 3));
    }
    return std::nullopt;
}

stream_event replication_stream::next(time_point deadline) {
    held_.reset();
    while (!stopped_) {
        if (!connected()) {
            return lost();
        }
        if (auto error = feedback_if_due()) {
            return std::move(*error);
        }
        char* raw = nullptr;
        const int size = PQgetCopyData(session_.get(), &raw, 1);
        if (size < 0) {
            return ended();
        }
        if (size == 0) {
            if (!wait(std::min(deadline, feedback_due_)) && steady_clock::now() >= deadline) {
                break;
            }
            continue;
        }
        held_.reset(raw);
        if (auto event = take(static_cast<std::size_t>(size))) {
            return std::move(*event);
        }
    }
    return nothing{};
}

// What one CopyData is; nothing for a kind that is not known.
std::optional<stream_event> replication_stream::take(std::size_t size) {
    protocol::byte_reader from(protocol::as_bytes({held_.get(), size}));
    switch (from.u8()) {
    case 'w': return take_message(from);
    case 'k': return take_keepalive(from);
    default: return std::nullopt;
    }
}

stream_event replication_stream::take_message(protocol::byte_reader& from) const {
    wal_message message;
    message.lsn = from.u64();
    (void)from.bytes(2 * sizeof(std::uint64_t));  // the end of WAL on the server, its clock
    message.bytes = protocol::as_bytes(from.rest());
    if (!from.ok()) {
        return too_short();
    }
    return message;
}

stream_event replication_stream::take_keepalive(protocol::byte_reader& from) {
    const keepalive alive{.end = from.u64()};
    (void)from.u64();  // the server's clock
    const bool asked = from.u8() != 0;
    if (!from.ok()) {
        return too_short();
    }
    if (asked) {
        feedback_wanted_ = true;
    }
    if (auto error = feedback_if_due()) {
        return std::move(*error);
    }
    return alive;
}

std::optional<sql_error> replication_stream::feedback_if_due() {
    if (!feedback_wanted_.exchange(false) && steady_clock::now() < feedback_due_) {
        return std::nullopt;
    }
    return send_feedback();
}

// "Standby status update".
std::optional<sql_error> replication_stream::send_feedback() {
    feedback_due_ = steady_clock::now() + feedback_interval_;
    const std::uint64_t safe = confirmed_;
    std::vector<std::uint8_t> bytes;
    protocol::byte_writer to(bytes);
    to.u8('r');
    to.u64(safe);  // written
    to.u64(safe);  // flushed
    to.u64(safe);  // applied
    to.i64(server_time());
    to.u8(0);  // no answer wanted
    auto* connection = session_.get();
    const auto* data = reinterpret_cast<const char*>(bytes.data());
    if (PQputCopyData(connection, data, static_cast<int>(bytes.size())) != 1 ||
        PQflush(connection) < 0) {
        return failure(nullptr);
    }
    return std::nullopt;
}

void replication_stream::keep_alive() {
    if (!stopped_ && connected()) {
        (void)feedback_if_due();  // what went wrong is told by next()
    }
}

void replication_stream::confirm(std::uint64_t lsn) noexcept {
    auto before = confirmed_.load();
    while (before < lsn && !confirmed_.compare_exchange_weak(before, lsn)) {
    }
}

void replication_stream::confirm_now() noexcept {
    feedback_wanted_ = true;
    wakeup_.signal();
}

void replication_stream::stop() noexcept {
    stopped_ = true;
    wakeup_.signal();
}

// Until there is input, which is then read; false: nothing came, or somebody woke us.
bool replication_stream::wait(time_point until) {
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now()).count();
    std::array<pollfd, 2> watched = {
        pollfd{PQsocket(session_.get()), POLLIN, 0},
        pollfd{wakeup_.descriptor(), POLLIN, 0}};
    const auto limit = std::clamp<milliseconds::rep>(left, 0, slowest_feedback.count());
    poll(watched.data(), watched.size(), static_cast<int>(limit));
    if (watched[1].revents != 0) {
        wakeup_.drain();
    }
    // What went wrong is told by the next call that reads.
    return watched[0].revents != 0 && PQconsumeInput(session_.get()) == 1;
}

sql_answer replication_stream::command(const std::string& text) {
    if (stopped_ || !connected()) {
        return {.rows = {}, .error = sql_error{{}, address() + ": not connected"}};
    }
    if (PQsendQuery(session_.get(), text.c_str()) != 1) {
        return {.rows = {}, .error = failure(nullptr)};
    }
    auto answer = await_result();
    if (answer && PQresultStatus(answer.rows.get()) == PGRES_COPY_BOTH) {
        return answer;
    }
    while (session_.connected()) {
        const auto rest = await_result();
        if (!rest || rest.rows.get() == nullptr) {
            break;
        }
    }
    if (answer && answer.rows.get() == nullptr) {
        answer.error = failure(nullptr);
    }
    return answer;
}

// The next result of the command; without rows when there is none.
sql_answer replication_stream::await_result() {
    auto* connection = session_.get();
    while (PQisBusy(connection) != 0) {
        if (stopped_) {
            std::array<char, 256> told{};
            if (auto* cancel = PQgetCancel(connection); cancel != nullptr) {
                PQcancel(cancel, told.data(), static_cast<int>(told.size()));
                PQfreeCancel(cancel);
            }
            auto error = sql_error{{}, address() + ": stopped"};
            close();
            return {.rows = {}, .error = std::move(error)};
        }
        if (!wait(steady_clock::now() + slowest_feedback) &&
            PQstatus(connection) != CONNECTION_OK) {
            return {.rows = {}, .error = failure(nullptr)};
        }
    }
    pq_result result(PQgetResult(connection));
    const auto status = PQresultStatus(result.get());
    if (result && status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK &&
        status != PGRES_COPY_BOTH) {
        return {.rows = {}, .error = failure(result.get())};
    }
    return {.rows = sql_rows(std::move(result)), .error = {}};
}

sql_error replication_stream::failure(const PGresult* result) const {
    const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string_view said =
        result == nullptr ? PQerrorMessage(session_.get()) : PQresultErrorMessage(result);
    return {
        .sqlstate = state == nullptr ? "" : state,
        .text = address() + ": " + single_line(said.empty() ? "connection lost" : said)};
}

sql_error replication_stream::lost() {
    if (session_.get() == nullptr) {
        return {{}, address() + ": not connected"};
    }
    auto error = failure(nullptr);
    close();
    return error;
}

sql_error replication_stream::too_short() const {
    return {"08P01", address() + ": a replication message is too short"};
}

// The server has finished the stream: with an error, or because it shuts down.
sql_error replication_stream::ended() {
    const pq_result result(PQgetResult(session_.get()));
    auto error = PQresultStatus(result.get()) == PGRES_FATAL_ERROR
                     ? failure(result.get())
                     : sql_error{{}, address() + ": the server ended the stream"};
    close();
    return error;
}

}  // namespace weir::migration
