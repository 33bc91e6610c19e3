// Where changes come from: the WAL or an outbox table. One interface, so that the rest of a
// migration is the same for both.
#pragma once

#include "migration/capture/replication_stream.hpp"
#include "migration/change.hpp"
#include "migration/sql.hpp"

#include <chrono>
#include <cstdint>
#include <variant>

namespace weir::migration {

// The end of a transaction, or of a batch of an outbox. All its changes came before.
struct transaction_end {
    // What may be confirmed once its changes are safe; grows from one to the next.
    std::uint64_t position = 0;
    std::uint32_t transaction = 0;  // its id without the epoch; 0 of an outbox
    std::int64_t committed_at = 0;  // microseconds since 1970; 0: not known
};

// Every change before `position` has been handed out and no transaction is half-way: with nothing
// in flight, it may be confirmed.
struct caught_up {
    std::uint64_t position = 0;
};

using source_event = std::variant<nothing, change, transaction_end, caught_up, sql_error>;

// Threads: next() and keep_alive() on one thread; the others may be called from any.
class change_source {
public:
    using time_point = std::chrono::steady_clock::time_point;

    change_source() = default;
    change_source(const change_source&) = delete;
    change_source& operator=(const change_source&) = delete;
    virtual ~change_source() = default;

    // Changes in the order in which they are to be applied. `nothing` when the deadline passes or
    // after stop(). An error ends the source: make a new one, which begins after what was
    // confirmed. Changes are then repeated with the same versions.
    [[nodiscard]] virtual source_event next(time_point deadline) = 0;

    // To be called now and then (once a second is enough) while next() is not, as when the store is
    // slow: the server gives up a reader that it does not hear from. Errors are told by next().
    virtual void keep_alive() {}

    // Changes up to this position (of a transaction_end or caught_up) are safe in the store. What
    // is confirmed is told to the server in time; `at_once` does not wait for that.
    virtual void confirm(std::uint64_t position, bool at_once) noexcept = 0;

    // For good: next() returns.
    virtual void stop() noexcept = 0;
};

}  // namespace weir::migration
