// What follows when an entry of the ledger has been answered, has failed or was dropped; handing on
// what the client is to have.
#include "protocol/byte_reader.hpp"
#include "protocol/byte_writer.hpp"
#include "proxy/upstream/connection.hpp"
#include "proxy/worker_context.hpp"

#include <array>
#include <utility>

namespace weir::proxy::upstream {
namespace {

using protocol::answer_to;
using protocol::bytes_view;
using protocol::ledger_entry;
using protocol::owed;

constexpr std::array<std::uint8_t, 16>
    deallocated{'C', 0, 0, 0, 15, 'D', 'E', 'A', 'L', 'L', 'O', 'C', 'A', 'T', 'E', 0};

constexpr purpose purpose_of(const ledger_entry& entry) {
    return static_cast<purpose>(entry.tag);
}

}  // namespace

void connection::settle(const ledger_entry& entry, client_link::outcome how, bytes_view frame) {
    if (how != client_link::outcome::answered && entry.kind == owed::parse && entry.object == 0) {
        unnamed_owner = 0;  // the server holds none now, or still somebody else's
    }
    if (entry.object != 0) {
        settle_statement(entry, how);
    }
    switch (purpose_of(entry)) {
    case purpose::compare:
        if (client_ != nullptr) {
            client_->settled(entry.note, how, frame);
        }
        break;
    case purpose::own_error: own_errors_.erase(entry.note); break;
    case purpose::settings:
    case purpose::check:
        if (entry.kind == owed::query || entry.kind == owed::sync) {
            injected_over(purpose_of(entry));
        }
        break;
    case purpose::clean_up:
        if (how == client_link::outcome::answered &&
            (entry.kind == owed::query || entry.kind == owed::sync)) {
            clean_up_over(std::exchange(injected_failed_, false));
        }
        break;
    default:
        if (entry.note != 0 && client_ != nullptr &&
            (entry.to == answer_to::client || entry.to == answer_to::reworded)) {
            client_->settled(entry.note, how, frame);
        }
        break;
    }
}

// What became of a prepared statement of the server's.
void connection::settle_statement(const ledger_entry& entry, client_link::outcome how) {
    const bool done = how == client_link::outcome::answered;
    if (entry.kind == owed::parse) {
        if (!done && (!already_there_ || how != client_link::outcome::failed)) {
            statements.remove(entry.object);
        }
    } else if (entry.kind == owed::close) {
        const auto found = closing_.find(entry.object);
        if (found != closing_.end()) {
            if (!done) {
                statements.add(found->second);  // a Close in the skip window did not happen
            }
            closing_.erase(found);
        }
    } else if (stale_ && !done) {
        if (auto gone = statements.remove(entry.object)) {
            stale_statements_[entry.object] = std::move(gone);
        }
    }
}

void connection::settle_dropped() {
    // Newest first, so that what the client noted is undone in the right order.
    while (!dropped_.empty()) {
        const auto entry = dropped_.back();
        dropped_.pop_back();
        settle(entry, client_link::outcome::dropped, {});
    }
}

void connection::injected_over(purpose what) {
    const bool failed = std::exchange(injected_failed_, false);
    if (what == purpose::settings) {
        if (failed) {
            reset_needed_ = true;
        } else {
            settings = settings_wanted_;
        }
    }
    injected_ = failed ? injected_result::failed : injected_result::done;
}

void connection::forward(bytes_view frame) {
    if (!run_.empty() && run_.data() + run_.size() == frame.data()) {
        run_ = {run_.data(), run_.size() + frame.size()};
        return;
    }
    deliver_run();
    run_ = frame;
}

// Drivers tell their own notifications from others' by the process id, so the client's own must
// have the one it knows.
void connection::forward_notification(const protocol::frame_part& part) {
    protocol::byte_reader reader(part.body());
    const auto sender = reader.u32();
    if (!reader.ok() || sender != who.pid) {
        forward(part.bytes);
        return;
    }
    deliver_run();
    std::vector<std::uint8_t> own;
    protocol::byte_writer writer(own);
    writer.bytes(part.bytes.first(part.bytes.size() - part.body().size()));
    writer.u32(client_->own_pid());
    writer.bytes(part.body().subspan(sizeof sender));
    client_->deliver(own);
}

void connection::deliver_run() {
    if (run_.empty()) {
        return;
    }
    const auto bytes = std::exchange(run_, {});
    if (client_ != nullptr) {
        client_->deliver(bytes);
    }
}

// ParameterDescription comes before PostgreSQL looks whether the plan is stale (exec_describe_
// statement_message in tcop/postgres.c), so whether the client is to hear of it shows later. True:
// not now.
bool connection::hold_back(const ledger_entry& entry, const protocol::frame_part& part) {
    if (entry.kind != owed::describe_statement || entry.note == 0 || client_ == nullptr) {
        return false;
    }
    if (part.type == 't') {
        held_back_.assign(part.bytes.begin(), part.bytes.end());
        return true;
    }
    if (!held_back_.empty()) {
        deliver_run();
        client_->deliver(held_back_);
        held_back_.clear();
    }
    return false;
}

// True: the client has been told the end of its own statement.
bool connection::reword(const ledger_entry& entry, std::uint8_t type) {
    const auto what = purpose_of(entry);
    if (what == purpose::deallocate && type == 'I') {
        deliver_run();
        client_->deliver(deallocated);
        return true;
    }
    if (what == purpose::own_show && type == 'C') {
        deliver_run();
        client_->reword(entry.note, type);
        return true;
    }
    return false;
}

}  // namespace weir::proxy::upstream
