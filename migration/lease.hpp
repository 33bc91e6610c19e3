// Who may write a migration's store and journal: one process at a time.
//
// Two things hold it together. A session advisory lock on the primary, keyed by the migration's
// name, keeps a living owner's place and ends with its session. A row in pgweir.lease carries an
// epoch, which a new owner raises: statements of the journal name their epoch and change nothing
// once it is no longer the row's. Requests to the store cannot be stopped that way, so an owner
// writes only until its lease ends, by its own steady clock from before the renewing request, and a
// new owner does not write before the old lease and the longest request have ended.
//
//     try_take ─▶ (waits until writes_from) ─▶ may write ─▶ lease ends without renewal
//         ▲                                       │ renew              │
//         └─────────── lost: try_take again ◀─────┴────────────────────┘
//
// The row's times are the server's clock's. If the timeline has changed since the row was written,
// its clock is another one and the wait is the whole promise. A process that was stopped between
// its look at the clock and its request for longer than all that is not covered: such a write
// carries an old version, which loses where the store compares versions.
#pragma once

#include "migration/sql.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace weir::migration {

struct lease_terms {
    std::string migration;
    std::string owner;  // for people: host, process id
    std::chrono::milliseconds duration{10'000};
    std::chrono::milliseconds request_timeout{60'000};  // the longest a request to the store takes
};

enum class lease_try : std::uint8_t {
    taken,    // ours; writes are allowed from writes_from()
    held,     // another process has it
    failed,   // no answer, or an error: see `text`
    standby,  // the server is none that can be written
};

struct lease_result {
    lease_try what = lease_try::failed;
    std::string text;
};

// Threads: one for everything but valid() and epoch(), which any may call.
class lease {
public:
    using clock = std::chrono::steady_clock;

    explicit lease(lease_terms terms) : terms_(std::move(terms)) {}

    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() = default;  // as if the process had died: others wait

    // One attempt, over a connection of its own. A lease whose owner's session is there, but which
    // was not renewed for twice its duration, is torn from it: its session is ended.
    [[nodiscard]] lease_result try_take(const source_address& primary);

    // To be called every third of the duration. An error means that it is not renewed, and will not
    // be: try_take again. What was valid stays so until its time is over.
    [[nodiscard]] std::optional<sql_error> renew();

    // Gives it back. `quiet`: no request to the store is under way, nobody needs to wait.
    void release(bool quiet);

    // Whether a request to the store may begin at `now`.
    [[nodiscard]] bool valid(clock::time_point now) const noexcept {
        const auto at = now.time_since_epoch().count();
        return at >= from_.load(std::memory_order_acquire) &&
               at < until_.load(std::memory_order_acquire);
    }

    // From when on writes are allowed, if it is renewed until then.
    [[nodiscard]] clock::time_point writes_from() const noexcept {
        return clock::time_point(clock::duration(from_.load(std::memory_order_acquire)));
    }

    // For the journal; 0 before the first one. It stays after the lease was lost.
    [[nodiscard]] std::uint64_t epoch() const noexcept {
        return epoch_.load(std::memory_order_acquire);
    }

    [[nodiscard]] const lease_terms& terms() const noexcept { return terms_; }

private:
    struct previous;

    [[nodiscard]] lease_result lock(bool& locked);
    [[nodiscard]] std::optional<sql_error> read_previous(previous& row);
    [[nodiscard]] std::optional<sql_error> write_row(const previous& row, clock::time_point asked);
    void tear_away();
    [[nodiscard]] std::chrono::milliseconds wait_after(const previous& row) const;

    lease_terms terms_;
    sql_session session_;
    std::atomic<std::uint64_t> epoch_ = 0;
    std::atomic<clock::rep> from_ = clock::time_point::max().time_since_epoch().count();
    std::atomic<clock::rep> until_ = 0;
};

}  // namespace weir::migration
