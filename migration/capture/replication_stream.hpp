// A libpq connection in replication mode that reads a logical slot with pgoutput (PostgreSQL
// documentation, "Streaming Replication Protocol" and "Logical Streaming Replication Protocol").
// Messages are handed out as bytes; nothing is decoded here but their envelope.
#pragma once

#include "migration/capture/wakeup.hpp"
#include "migration/continuity.hpp"
#include "migration/sql.hpp"
#include "protocol/byte_reader.hpp"

#include <boost/system/result.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weir::migration {

struct system_identity {
    std::uint64_t system_identifier = 0;
    std::uint32_t timeline = 0;
    std::uint64_t flushed = 0;  // LSN
};

struct start_request {
    std::string slot;
    std::vector<std::string> publications;
    std::uint64_t from = 0;  // LSN that was confirmed; 0: what the slot says
};

// One message of the output plugin.
struct wal_message {
    std::uint64_t lsn = 0;
    protocol::byte_span bytes;  // valid until the next call of next()
};

// Everything before `end` has been sent.
struct keepalive {
    std::uint64_t end = 0;
};

// The deadline has passed, or stop() was called.
struct nothing {};

using stream_event = std::variant<nothing, wal_message, keepalive, sql_error>;

template <typename Value>
using sql_result = boost::system::result<Value, sql_error>;

// Threads: one at a time, except for confirm(), confirm_now() and stop(), which any thread may call
// while the object lives.
class replication_stream {
public:
    using time_point = std::chrono::steady_clock::time_point;

    // Logs in. An earlier connection is closed.
    [[nodiscard]] std::optional<sql_error> connect(const source_address& where);

    [[nodiscard]] sql_result<system_identity> identify();

    // Where the timelines before this one ended, oldest first. Empty for the first.
    [[nodiscard]] sql_result<std::vector<timeline_end>> timeline_history(std::uint32_t timeline);

    // Makes a permanent slot for pgoutput and returns its consistent point. Waits for the
    // transactions that are running; stop() ends that, and then no slot is left. `failover`: the
    // slot is to be synchronised to standbys; ignored before PostgreSQL 17.
    [[nodiscard]] sql_result<std::uint64_t> create_slot(const std::string& name, bool failover);

    [[nodiscard]] std::optional<sql_error> start(const start_request& request);

    // After start(). An error ends the stream: connect() again.
    [[nodiscard]] stream_event next(time_point deadline);

    // Sends feedback if it is due, while next() is not called. On the thread that calls next().
    void keep_alive();

    // Everything before this LSN is safe: the server may forget it. It is told so every ten
    // seconds, every third of its wal_sender_timeout, and when it asks. Never goes back.
    void confirm(std::uint64_t lsn) noexcept;
    // Tells the server at once.
    void confirm_now() noexcept;

    [[nodiscard]] std::uint64_t confirmed() const noexcept { return confirmed_; }

    // For good: calls in progress and later ones return, next() with nothing, others with an error.
    void stop() noexcept;

    [[nodiscard]] bool stopped() const noexcept { return stopped_; }

    [[nodiscard]] bool connected() const noexcept { return session_.connected(); }

    [[nodiscard]] const std::string& address() const noexcept { return session_.address(); }

    void close() noexcept;

private:
    struct free_memory {
        void operator()(char* memory) const noexcept { PQfreemem(memory); }
    };

    [[nodiscard]] sql_answer command(const std::string& text);
    [[nodiscard]] sql_answer await_result();
    [[nodiscard]] std::optional<sql_error> read_timeout();
    [[nodiscard]] bool wait(time_point until);
    [[nodiscard]] std::optional<sql_error> send_feedback();
    [[nodiscard]] std::optional<sql_error> feedback_if_due();
    [[nodiscard]] std::optional<stream_event> take(std::size_t size);
    [[nodiscard]] stream_event take_message(protocol::byte_reader& from) const;
    [[nodiscard]] stream_event take_keepalive(protocol::byte_reader& from);
    [[nodiscard]] sql_error too_short() const;
    [[nodiscard]] sql_error failure(const PGresult* result) const;
    [[nodiscard]] sql_error lost();
    [[nodiscard]] sql_error ended();

    sql_session session_;
    wakeup wakeup_;
    std::unique_ptr<char, free_memory> held_;
    std::atomic<std::uint64_t> confirmed_ = 0;
    std::atomic<bool> stopped_ = false;
    std::atomic<bool> feedback_wanted_ = false;
    std::chrono::milliseconds feedback_interval_{10'000};
    time_point feedback_due_;
};

}  // namespace weir::migration
