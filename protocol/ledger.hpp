// What a server connection still owes, in order, and what to do with each answer. Pure.
//
// Every message sent to the server that will be answered is one entry; every message from the
// server is matched with the front. Two rules of PostgreSQL are modelled here and nowhere else
// (documentation, 55.2.3 and 55.2.6):
//  - After an ErrorResponse to an extended-protocol message the server ignores everything up to
//  Sync, simple Query
//    and FunctionCall included. Entries of that window are dropped; what is sent into it is not
//    entered.
//  - While the server is in copy-in mode, Sync and Flush are ignored: the Syncs sent behind the
//  Execute of a COPY
//    are not answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::protocol {

enum class owed : std::uint8_t {
    parse,
    bind,
    describe_statement,
    describe_portal,
    execute,
    close,
    sync,
    query,
    function_call,
    copy_end,  // CopyDone or CopyFail: no answer of its own
    local,     // an answer the proxy makes itself when everything before it has been answered
};

enum class answer_to : std::uint8_t {
    client,           // forward
    nobody,           // swallow
    reworded,         // forward, but its rows and its end are the owner's to say
    client_if_error,  // an injected message: only its failure concerns the client
    replace,  // an injected message meant to fail: its ErrorResponse is replaced by the proxy's own
};

struct ledger_entry {
    owed kind = owed::sync;
    answer_to to = answer_to::client;
    std::uint16_t tag = 0;     // the owner's: what the entry is for
    std::uint64_t note = 0;    // the owner's: what to settle when it is answered or dropped
    std::uint64_t object = 0;  // the owner's: the prepared statement it makes or closes, 0: none
};

// What to do with a message from the server.
enum class verdict : std::uint8_t {
    forward,
    swallow,
    replace,
    violation,  // the server sent what nobody asked for
};

struct ledger_outcome {
    verdict what = verdict::violation;
    bool completed = false;  // `entry` has been answered and left the ledger
    bool failed = false;     // by an ErrorResponse
    ledger_entry entry;      // the front when the message came
};

class ledger {
public:
    // Enters a message about to be sent. False: the server is skipping to Sync and would ignore it,
    // so it is neither entered nor to be sent.
    [[nodiscard]] bool push(const ledger_entry& entry);

    // Matches one message of the server. `type` is not one of the asynchronous ones
    // (NoticeResponse, ParameterStatus, NotificationResponse), which belong to no entry. Entries
    // that an error drops are appended to `dropped`, in order.
    [[nodiscard]] ledger_outcome on_message(std::uint8_t type, std::vector<ledger_entry>& dropped);

    // The next answer the proxy has to make itself, when its turn has come.
    [[nodiscard]] bool take_local(ledger_entry& entry);

    // Nobody waits for the answer to the front any more.
    void hush_front() noexcept;
    // Nobody waits for the answers any more: everything is swallowed from here on.
    void orphan() noexcept;

    [[nodiscard]] bool empty() const noexcept { return head_ == entries_.size(); }

    [[nodiscard]] std::size_t size() const noexcept { return entries_.size() - head_; }

    [[nodiscard]] const ledger_entry& front() const noexcept { return entries_[head_]; }

    // The server ignores everything up to the next Sync that is sent.
    [[nodiscard]] bool skipping() const noexcept { return skipping_; }

    // The server takes CopyData, and no CopyDone or CopyFail has been sent yet.
    [[nodiscard]] bool copy_in() const noexcept { return copy_in_; }

    // ReadyForQuery messages still to come.
    [[nodiscard]] std::size_t ready_owed() const noexcept;

private:
    void pop();
    void skip_to_sync(std::vector<ledger_entry>& dropped);
    void enter_copy_in();

    std::vector<ledger_entry> entries_;  // a queue: entries before head_ are done
    std::size_t head_ = 0;
    bool skipping_ = false;
    bool copy_in_ = false;
};

}  // namespace weir::protocol
