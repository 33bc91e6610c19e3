// How a server connection speaks to the client it serves. Implemented by client/session; all calls
// come on the worker's thread, from the connection's own reader.
#pragma once

#include "protocol/backend.hpp"
#include "protocol/frame.hpp"
#include "protocol/ledger.hpp"
#include "proxy/error.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace weir::proxy {
class stream;
}

namespace weir::proxy::upstream {

// What a ledger entry is for (ledger_entry::tag). A Parse or Close with an `object` also keeps the
// connection's statement set true, whoever sent it.
enum class purpose : std::uint16_t {
    client,          // a message of the client with nothing more to settle
    noted,           // one whose outcome the client wants to know; note: its number
    replay,          // a Parse or Close put in by the proxy
    compare,         // a Describe put in by the proxy; its answer is the client's note
    settings,        // the batch that brings the session's settings
    check,           // is the connection alive?
    clean_up,        // ROLLBACK, DISCARD ALL, a Sync in the place of a client that left
    own_error,       // local or replaced answer; note: number of the text
    parse_complete,  // local answers
    close_complete,
    deallocate,  // an empty statement in the place of DEALLOCATE; the client is told that it was
                 // one
    own_show,    // a query in the place of SHOW of a setting that no server knows; the client's
                 // note tells which
};

[[nodiscard]] constexpr std::uint16_t tag(purpose what) noexcept {
    return static_cast<std::uint16_t>(what);
}

class client_link {
public:
    client_link() = default;
    client_link(const client_link&) = delete;
    client_link& operator=(const client_link&) = delete;

    // Answers for the client, whole messages or pieces of one, in order.
    virtual void deliver(protocol::bytes_view bytes) = 0;
    // The outcome of a noted entry: answered, failed by an error, or dropped behind one.
    enum class outcome : std::uint8_t { answered, failed, dropped };
    virtual void settled(std::uint64_t note, outcome how, protocol::bytes_view frame) = 0;
    // The server's copy of a prepared statement is stale: PostgreSQL's error 0A000 to the entry
    // with this note. True: the client tells nobody and will send the whole unit again; its
    // ready() follows.
    [[nodiscard]] virtual bool takes_back(std::uint64_t note) = 0;
    // A row (type D) or the end (type C) of what stands in the place of the client's SHOW with this
    // note: the client is to be told what it would be of that.
    virtual void reword(std::uint64_t note, std::uint8_t type) = 0;
    // A ParameterStatus that the client caused has been recorded and is to be passed on.
    virtual void parameter_changed(
        std::string_view name,
        std::string_view value,
        protocol::bytes_view frame
    ) = 0;
    // A ReadyForQuery for the client has come. True: the client tells it later itself; ready()
    // follows as ever.
    [[nodiscard]] virtual bool keeps_ready(protocol::backend::transaction_status status) = 0;
    // ReadyForQuery has been delivered; the ledger tells whether more is owed. The client may leave
    // now.
    virtual void ready(protocol::backend::transaction_status status) = 0;
    // An injected exchange (settings, check) is over; null: it went well.
    virtual void injected_done(const failure* why) = 0;
    // An ErrorResponse is about to be delivered.
    virtual void error_seen(const protocol::backend::response_fields& fields) = 0;
    // The connection is gone; it has already let go of the client.
    virtual void lost(const failure& why) = 0;
    // The process id that the client was given as its own.
    [[nodiscard]] virtual std::uint32_t own_pid() const noexcept = 0;
    // Where answers go; asked for its backlog.
    virtual std::shared_ptr<stream> out() = 0;

protected:
    ~client_link() = default;
};

}  // namespace weir::proxy::upstream
