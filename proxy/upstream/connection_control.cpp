// What a session, a pool or the janitor asks of a connection; what the server says is in
// connection.cpp.
#include "protocol/byte_writer.hpp"
#include "protocol/frontend.hpp"
#include "proxy/upstream/connection.hpp"
#include "proxy/worker_context.hpp"

#include <boost/asio/steady_timer.hpp>

#include <cassert>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace weir::proxy::upstream {
namespace {

using protocol::answer_to;
using protocol::bytes_view;
using protocol::ledger_entry;
using protocol::owed;
using protocol::backend::transaction_status;
namespace frontend = protocol::frontend;

// DISCARD ALL without DEALLOCATE ALL, as one Query: the prepared statements are the proxy's own and
// stay.
constexpr std::string_view put_back =
    "SET SESSION AUTHORIZATION DEFAULT; RESET ALL; CLOSE ALL; UNLISTEN *; "
    "SELECT pg_catalog.pg_advisory_unlock_all(); DISCARD SEQUENCES; DISCARD TEMP";
constexpr std::string_view no_such_statement = "weir_no_such_statement";
constexpr std::string_view no_such_function = "SELECT pg_catalog.weir_no_such_function()";
constexpr auto goodbye_limit = std::chrono::seconds(1);

}  // namespace

void connection::reserve(std::uint64_t client_id) {
    set_state(connection_state::linked);
    client_id_ = client_id;
}

void connection::attach(client_link& client) {
    client_ = &client;
}

void connection::release() {
    assert(reusable());
    client_ = nullptr;
    if (reset_needed_ || cancels_ != 0) {
        set_state(connection_state::cleaning);
        cleaning_since_ = worker_.coarse_now;
        continue_cleaning();
        flush();
        return;
    }
    become_idle();
}

void connection::release_behind(std::shared_ptr<position_probe> probe) {
    assert(reusable());
    client_ = nullptr;
    probe_ = std::move(probe);
    set_state(connection_state::cleaning);
    cleaning_since_ = worker_.coarse_now;
    clean_step_ = clean_step::probe;
    // Not the flush position: a commit with synchronous_commit = off lies behind it.
    send_query("SELECT pg_catalog.pg_current_wal_insert_lsn()", purpose::clean_up);
    flush();
}

void connection::probe_answered(bytes_view row) {
    // DataRow of one column: Int16 count, Int32 length, text.
    constexpr std::size_t fixed = 6;
    if (row.size() < fixed) {
        return;
    }
    const auto at = routing::parse_lsn(protocol::as_text(row.subspan(fixed)));
    if (at) {
        probe_->token.at.at = *at;
        probe_over(true);
    }
}

void connection::probe_over(bool known) {
    const auto probe = std::exchange(probe_, nullptr);
    if (!probe) {
        return;
    }
    using status = routing::session_token::status;
    probe->token.state = known ? status::known : status::unknown;
    if (probe->wake != nullptr) {
        probe->wake->notify();
    }
}

void connection::abandon(bool unit_open, bool cut) {
    client_ = nullptr;
    if (state_ == connection_state::closed) {
        return;
    }
    if (cut) {
        close({errc::client_gone, "the client left in the middle of a message", {}});
        return;
    }
    set_state(connection_state::cleaning);
    cleaning_since_ = worker_.coarse_now;
    const bool copying = ledger_.copy_in();
    const bool extended_copy = copying && ledger_.front().kind == owed::execute;
    ledger_.orphan();
    injected_ = injected_result::none;
    scratch_out_.clear();
    protocol::byte_writer writer(scratch_out_);
    if (copying) {
        (void)ledger_.push(
            {.kind = owed::copy_end, .to = answer_to::nobody, .tag = tag(purpose::clean_up)}
        );
        frontend::copy_fail{"the client has gone"}.encode(writer);
    }
    if (unit_open || extended_copy || ledger_.skipping()) {
        clean_step_ = clean_step::unit;
        (void
        )ledger_.push({.kind = owed::sync, .to = answer_to::nobody, .tag = tag(purpose::clean_up)});
        frontend::encode_empty(writer, frontend::kind::sync);
    }
    if (!scratch_out_.empty()) {
        stream_->write(scratch_out_);
    }
    if (ledger_.empty()) {
        continue_cleaning();
    }
    flush();
}

void connection::continue_cleaning() {
    if (cancels_ != 0) {
        return;  // cancel_ended() goes on: until then a signal may still hit whatever runs
    }
    if (retired_) {
        close({errc::server_lost, "retired", std::nullopt});
        return;
    }
    if (status_ != transaction_status::idle) {
        clean_step_ = clean_step::rollback;
        send_query("ROLLBACK", purpose::clean_up);
    } else if (reset_needed_) {
        clean_step_ = clean_step::reset;
        send_query("DISCARD ALL", purpose::clean_up);
    } else {
        clean_step_ = clean_step::none;
        become_idle();
    }
    flush();
}

void connection::clean_up_over(bool failed) {
    if (clean_step_ == clean_step::probe) {
        probe_over(false);  // a stand-by refuses the question
        return;
    }
    if (failed && clean_step_ != clean_step::unit) {
        reset_needed_ = true;
        retired_ = true;  // a reset that fails leaves nobody knows what
        return;
    }
    if (clean_step_ == clean_step::reset) {
        reset_needed_ = false;
        dirty_by_ = 0;
        settings = nullptr;
        forget_statements();
    }
}

void connection::become_idle() {
    client_id_ = 0;
    idle_since = worker_.coarse_now;
    set_state(connection_state::idle);
    owner_->became_idle(*this);
}

void connection::cancel_ended() {
    --cancels_;
    if (cancels_ == 0 && state_ == connection_state::cleaning && ledger_.empty()) {
        continue_cleaning();
    }
}

void connection::close(const failure& why) {
    if (state_ == connection_state::closed) {
        return;
    }
    const auto self = shared_from_this();
    set_state(connection_state::closed);
    stream_->close();
    auto* const client = std::exchange(client_, nullptr);
    probe_over(false);
    owner_->became_closed(*this, why);
    if (client != nullptr) {
        client->lost(why);
    }
}

void connection::say_goodbye(std::function<void()> gone) {
    assert(client_ == nullptr);
    set_state(connection_state::closed);
    gone_ = std::move(gone);
    probe_over(false);
    scratch_out_.clear();
    protocol::byte_writer writer(scratch_out_);
    frontend::encode_empty(writer, frontend::kind::terminate);
    stream_->write(scratch_out_);
    flush();
    const auto limit = std::make_shared<asio::steady_timer>(worker_.io, goodbye_limit);
    limit->async_wait([self = shared_from_this(), limit](const error_code& /*ec*/) {
        self->stream_->close();
    });
}

failure connection::lost_because(std::string_view why) const {
    return {errc::server_lost, who.server + ": " + std::string(why), std::nullopt};
}

bool connection::send(const ledger_entry& entry, bytes_view frame) {
    if (!ledger_.push(entry)) {
        return false;
    }
    stream_->write(frame);
    return true;
}

bool connection::answer_locally(purpose what, std::uint64_t note) {
    if (!ledger_.push({.kind = owed::local, .tag = tag(what), .note = note})) {
        return false;
    }
    if (ledger_.size() == 1) {
        deliver_locals();
    }
    return true;
}

void connection::fail_unit(std::vector<std::uint8_t>&& error_response) {
    scratch_out_.clear();
    protocol::byte_writer writer(scratch_out_);
    frontend::bind{
        .portal = {},
        .statement = no_such_statement,
        .tail = std::string_view("\0\0\0\0\0\0", 6)}
        .encode(writer);
    fail_with(std::move(error_response), owed::bind, scratch_out_);
}

void connection::fail_parse(std::vector<std::uint8_t>&& error_response) {
    scratch_out_.clear();
    protocol::byte_writer writer(scratch_out_);
    frontend::parse{no_such_statement, no_such_function, {}}.encode(writer);
    fail_with(std::move(error_response), owed::parse, scratch_out_);
}

void connection::fail_query(std::vector<std::uint8_t>&& error_response) {
    scratch_out_.clear();
    protocol::byte_writer writer(scratch_out_);
    frontend::query{no_such_function}.encode(writer);
    fail_with(std::move(error_response), owed::query, scratch_out_);
}

void connection::fail_with(
    std::vector<std::uint8_t>&& error_response,
    owed kind,
    bytes_view message
) {
    const auto number = next_own_error_++;
    const ledger_entry entry{
        .kind = kind,
        .to = answer_to::replace,
        .tag = tag(purpose::own_error),
        .note = number};
    if (send(entry, message)) {
        own_errors_[number] = std::move(error_response);
    }
}

void connection::send_query(std::string_view text, purpose what) {
    scratch_out_.clear();
    protocol::byte_writer writer(scratch_out_);
    frontend::query{text}.encode(writer);
    unnamed_owner = 0;  // a Query drops the unnamed statement
    (void)send({.kind = owed::query, .to = answer_to::nobody, .tag = tag(what)}, scratch_out_);
}

bool connection::bring_settings(const settings_ptr& wanted) {
    std::string batch;
    if (dirty_by_ != 0 && dirty_by_ != client_id_) {
        dirty_by_ = 0;
        batch = put_back;
        const auto more = change_settings(nullptr, wanted.get());
        if (!more.empty()) {
            batch += "; " + more;
        }
    } else if (settings == wanted) {
        return true;
    } else {
        batch = change_settings(settings.get(), wanted.get());
    }
    if (batch.empty()) {
        settings = wanted;
        return true;
    }
    settings_wanted_ = wanted;
    send_query(batch, purpose::settings);
    flush();
    return false;
}

void connection::check() {
    scratch_out_.clear();
    protocol::byte_writer writer(scratch_out_);
    frontend::encode_empty(writer, frontend::kind::sync);
    (void
    )send({.kind = owed::sync, .to = answer_to::nobody, .tag = tag(purpose::check)}, scratch_out_);
    flush();
}

}  // namespace weir::proxy::upstream
