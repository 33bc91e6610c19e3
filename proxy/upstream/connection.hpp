// One connection to a server, logged in. It belongs to a pool of its worker and serves one client
// at a time. Its reader runs for as long as the connection lives, so that an idle server's end is
// noticed at once.
//
//     logging_in ──> idle ──> linked ──> cleaning ──> idle
//          │          │          │           │
//          └──────────┴──────────┴───────────┴──> closed
//
// What comes back is decided by the ledger and nothing else.
#pragma once

#include "config/config.hpp"
#include "protocol/frame.hpp"
#include "protocol/ledger.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/parameters.hpp"
#include "proxy/settings.hpp"
#include "proxy/stream.hpp"
#include "proxy/upstream/client_link.hpp"
#include "proxy/upstream/statement_set.hpp"
#include "routing/consistency.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weir::proxy {
struct worker_context;
}

namespace weir::proxy::upstream {

using steady_time = std::chrono::steady_clock::time_point;

enum class connection_state : std::uint8_t { logging_in, idle, linked, cleaning, closed };

[[nodiscard]] const char* to_string(connection_state state) noexcept;

// The position behind a client's own commit, on its way. Shared by the session and the connection
// that asks.
struct position_probe {
    routing::session_token token{.state = routing::session_token::status::pending, .at = {}};
    signal* wake = nullptr;  // of the session, while it lives
};

// The pool's side of a connection.
class connection_owner {
public:
    connection_owner() = default;
    connection_owner(const connection_owner&) = delete;
    connection_owner& operator=(const connection_owner&) = delete;
    virtual void became_idle(class connection& which) = 0;
    virtual void became_closed(class connection& which, const failure& why) = 0;

protected:
    ~connection_owner() = default;
};

class connection : public std::enable_shared_from_this<connection> {
public:
    connection(
        worker_context& worker,
        connection_owner& owner,
        std::shared_ptr<weir::proxy::stream> stream,
        std::size_t max_statements
    );

    // Filled by upstream/login before start().
    struct identity {
        std::string server;  // name in the configuration
        std::string host;
        std::uint16_t port = 0;
        std::uint32_t pid = 0;
        std::vector<std::uint8_t> key;  // of BackendKeyData
    };

    identity who;
    parameters_ptr parameters;
    settings_ptr settings;  // what the server holds beyond its defaults
    bool hot_standby = false;
    statement_set statements;
    steady_time created{};
    steady_time idle_since{};

    // Starts the reader. The log-in is over and the server said ReadyForQuery.
    void start();

    // From idle to linked, in two steps: the pool promises it to a client, the client's session
    // takes it.
    void reserve(std::uint64_t client_id);
    void attach(client_link& client);
    // The client needs nothing more. Only when reusable().
    void release();
    // The same, with a question for the WAL position first; the client does not wait for it.
    void release_behind(std::shared_ptr<position_probe> probe);
    // The client left in the middle: what is owed is swallowed, the transaction ends, the session
    // is reset. `unit_open`: it has sent part of a unit without Sync. `cut`: part of a message,
    // which nobody can complete.
    void abandon(bool unit_open, bool cut);
    void close(const failure& why);
    // Closes it in good order, while nobody uses it: tells the server and waits for its end, within
    // a bound. The owner has taken it out; `gone` is called when the server has nothing of it any
    // more.
    void say_goodbye(std::function<void()> gone);

    // Sends a message of the client (or an injected one) and notes what it will be answered. False:
    // the server is in its skip window; nothing was sent.
    bool send(const protocol::ledger_entry& entry, protocol::bytes_view frame);

    // A message that is not answered (Flush, CopyData), or a further piece of one.
    void send_unanswered(protocol::bytes_view frame) { stream_->write(frame); }

    // A further piece of a large message: past the buffer if nothing waits in it.
    void send_piece(protocol::bytes_view piece) { stream_->write_now(piece); }

    // ParseComplete or CloseComplete of the proxy's own, in its turn. False: skip window.
    bool answer_locally(purpose what, std::uint64_t note);
    // An ErrorResponse of the proxy's own in its turn, which also makes the server fail: its unit
    // is rolled back.
    void fail_unit(std::vector<std::uint8_t>&& error_response);
    // The same in the place of a Parse, and of a simple Query: in a failed transaction they fail by
    // that.
    void fail_parse(std::vector<std::uint8_t>&& error_response);
    void fail_query(std::vector<std::uint8_t>&& error_response);

    // Makes the server hold `wanted`. True: it does already; false: injected_done() follows.
    [[nodiscard]] bool bring_settings(const settings_ptr& wanted);
    // A round trip; injected_done() follows.
    void check();
    // A Parse in front of a use of a statement that the server lacks. False: skip window.
    bool replay(const statement_ptr& wanted);
    // The same for one that the server has: its copy is replaced.
    bool renew(const statement_ptr& wanted);
    // Before any Parse under a statement's server name: closes a stale copy, makes room, notes the
    // new one.
    void prepare_parse(const statement_ptr& wanted);

    void flush() { stream_->flush(); }

    [[nodiscard]] weir::proxy::stream& out() noexcept { return *stream_; }

    [[nodiscard]] std::shared_ptr<weir::proxy::stream> out_ptr() const noexcept { return stream_; }

    [[nodiscard]] const protocol::ledger& owes() const noexcept { return ledger_; }

    [[nodiscard]] protocol::backend::transaction_status status() const noexcept { return status_; }

    [[nodiscard]] connection_state state() const noexcept { return state_; }

    [[nodiscard]] steady_time cleaning_since() const noexcept { return cleaning_since_; }

    [[nodiscard]] std::uint64_t client_id() const noexcept { return client_id_; }

    // Nothing owed, outside a transaction, no copy: another client could have it.
    [[nodiscard]] bool reusable() const noexcept {
        return ledger_.empty() && !ledger_.skipping() &&
               status_ == protocol::backend::transaction_status::idle;
    }

    // DISCARD ALL before anybody else gets it.
    void needs_reset() noexcept { reset_needed_ = true; }

    // A function of the user's own ran and may have changed anything in the session: another client
    // gets it only with the session's state put back.
    void may_be_dirty() noexcept { dirty_by_ = client_id_; }

    [[nodiscard]] bool dirty_for(std::uint64_t client_id) const noexcept {
        return dirty_by_ != 0 && dirty_by_ != client_id;
    }

    // The client's DEALLOCATE ALL or DISCARD ALL, about to be sent, removes everybody's statements
    // from this server.
    [[nodiscard]] std::vector<statement_ptr> take_statements();
    // It failed: those that have not been prepared again are still there.
    void restore_statements(const std::vector<statement_ptr>& copies);

    [[nodiscard]] bool reset_is_needed() const noexcept { return reset_needed_; }

    // Not lent again; closed when the client lets go.
    void retire() noexcept { retired_ = true; }

    [[nodiscard]] bool retired() const noexcept { return retired_; }

    // A cancel request for the running statement is on its way; the connection is not lent before
    // it ends.
    void cancel_started() noexcept { ++cancels_; }

    void cancel_ended();

    [[nodiscard]] bool being_canceled() const noexcept { return cancels_ != 0; }

    // Whose unnamed statement the server holds: a number that its client chose, 0: nobody's.
    std::uint64_t unnamed_owner = 0;

private:
    asio::awaitable<void> run();
    asio::awaitable<void> see_off();
    // All frames at hand. False: the connection has been closed.
    [[nodiscard]] bool process();
    [[nodiscard]] bool on_part(const protocol::frame_part& part);
    [[nodiscard]] bool on_message(const protocol::frame_part& part);
    void on_parameter(protocol::bytes_view frame);
    void on_ready(protocol::bytes_view frame);
    [[nodiscard]] bool kept(protocol::bytes_view frame);
    [[nodiscard]] bool on_error(const protocol::frame_part& part);
    void forward(protocol::bytes_view frame);
    void forward_notification(const protocol::frame_part& part);
    [[nodiscard]] bool reword(const protocol::ledger_entry& entry, std::uint8_t type);
    void fail_with(
        std::vector<std::uint8_t>&& error_response,
        protocol::owed kind,
        protocol::bytes_view message
    );
    [[nodiscard]] bool
    hold_back(const protocol::ledger_entry& entry, const protocol::frame_part& part);
    void deliver_run();
    void deliver_locals();
    void settle(
        const protocol::ledger_entry& entry,
        client_link::outcome how,
        protocol::bytes_view frame
    );
    void settle_statement(const protocol::ledger_entry& entry, client_link::outcome how);
    void settle_dropped();
    void injected_over(purpose what);
    void forget_statements();
    void close_on_server(statement_ptr gone);
    void continue_cleaning();
    void clean_up_over(bool failed);
    void probe_answered(protocol::bytes_view row);
    void probe_over(bool known);
    void send_query(std::string_view text, purpose what);
    void become_idle();
    void set_state(connection_state next);
    [[nodiscard]] failure lost_because(std::string_view why) const;

    worker_context& worker_;
    connection_owner* owner_;
    std::shared_ptr<weir::proxy::stream> stream_;
    input_buffer input_;
    protocol::frame_cutter cutter_{protocol::side::backend};
    protocol::ledger ledger_;
    std::vector<protocol::ledger_entry> dropped_;
    protocol::backend::transaction_status status_ = protocol::backend::transaction_status::idle;
    connection_state state_ = connection_state::logging_in;
    client_link* client_ = nullptr;
    std::uint64_t client_id_ = 0;
    protocol::bytes_view run_;             // adjacent messages to forward in one piece
    std::vector<std::uint8_t> held_back_;  // a ParameterDescription
    bool forward_body_ = false;            // what to do with the pieces of a large message
    bool reset_needed_ = false;
    bool retired_ = false;
    std::function<void()> gone_;
    unsigned cancels_ = 0;
    settings_ptr settings_wanted_;  // of the batch under way
    enum class injected_result : std::uint8_t { none, done, failed };
    injected_result injected_ = injected_result::none;
    failure injected_failure_;
    bool injected_failed_ = false;
    enum class clean_step : std::uint8_t { none, unit, rollback, reset, probe };
    clean_step clean_step_ = clean_step::none;
    bool stale_ = false;    // the error being handled says that a plan's result type has changed
    bool hushed_ = false;   // and the client is not told
    bool aborted_ = false;  // … that the transaction has failed before
    bool already_there_ = false;  // the error being handled says that the statement exists
    std::uint64_t dirty_by_ = 0;
    std::map<std::uint64_t, statement_ptr> stale_statements_;  // still on the server, of no use
    std::map<std::uint64_t, statement_ptr> closing_;
    std::map<std::uint64_t, std::vector<std::uint8_t>> own_errors_;
    std::uint64_t next_own_error_ = 1;
    std::vector<std::uint8_t> scratch_out_;  // for building messages
    steady_time cleaning_since_{};
    std::shared_ptr<position_probe> probe_;
};

}  // namespace weir::proxy::upstream
