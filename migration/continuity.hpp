// Whether the stream may go on from what the journal holds, after a restart or a failover: the slot
// of the server that is the primary now must continue the position that was confirmed. Pure.
//
// The runner's side of the agreement: it writes a position to the journal before it confirms it to
// the slot, so on one timeline a slot is never ahead of the journal unless somebody else moved it
// or made it anew.
#pragma once

#include "migration/timeline.hpp"
#include "migration/version.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weir::migration {

// A history file's entries, oldest first. Nothing if a line is neither empty, nor a comment, nor an
// entry.
[[nodiscard]] std::optional<std::vector<timeline_end>> parse_history(std::string_view text);

// What pg_replication_slots says of a slot. Members that the server's version does not have keep
// their defaults.
struct slot_state {
    std::string plugin;
    std::string database;
    std::int32_t active_pid = 0;  // 0: nobody reads from it
    std::uint64_t restart_lsn = 0;
    std::uint64_t confirmed_flush = 0;
    std::string wal_status;           // reserved, extended, unreserved, lost
    std::string invalidation_reason;  // 17+; empty: it is valid
    bool conflicting = false;         // 16+
    bool failover = false;            // 17+
    bool synced = false;              // 17+: copied from the primary, or was so before promotion
};

struct journal_position {
    std::uint64_t system_identifier = 0;
    std::uint32_t timeline = 0;
    std::uint64_t confirmed = 0;  // everything before it is in the store
    // The highest position that may have been sent to the store, where the process that sent is
    // still this one. What the journal knows of it may have been lost with the old primary.
    std::optional<std::uint64_t> sent{};
};

struct server_position {
    bool standby = false;
    std::uint64_t system_identifier = 0;
    std::uint32_t timeline = 0;
    std::vector<timeline_end> history;  // empty on timeline 1
    std::optional<slot_state> slot;     // nothing: there is none of that name
};

// The old timeline ended at `end`, and the store may hold changes beyond it that never happened:
// documents whose version is of `timeline` and above `end` are to be read again, and overwritten or
// removed without regard to their version.
struct lost_tail {
    std::uint32_t timeline = 0;
    std::uint64_t end = 0;
    friend bool operator==(const lost_tail&, const lost_tail&) = default;
};

// The stream goes on; `from` is what START_REPLICATION is given.
struct carries_on {
    std::uint64_t from = 0;
    std::optional<lost_tail> tail{};
    friend bool operator==(const carries_on&, const carries_on&) = default;
};

// How the reason of a gap begins when the server's data have a history of their own.
inline constexpr std::string_view other_cluster = "the server is of another cluster";
[[nodiscard]] std::string of_other_cluster(std::uint64_t system_identifier, std::uint64_t expected);

// Changes were or may have been missed: the store is stale.
struct gap {
    std::string reason;
    std::optional<lost_tail> tail{};
    friend bool operator==(const gap&, const gap&) = default;
};

// This server is not the one to ask: a standby, or a primary of the past.
struct not_yet {
    std::string reason;
    friend bool operator==(const not_yet&, const not_yet&) = default;
};

using continuity = std::variant<carries_on, gap, not_yet>;

[[nodiscard]] continuity
continuity_of(const journal_position& journal, const server_position& server);

// Whether a document of this version is of the lost tail.
[[nodiscard]] constexpr bool beyond(const lost_tail& tail, const version& what) {
    return what.timeline == tail.timeline && what.lsn > tail.end;
}

// --- protection by failover slots (17+) ---

// A standby's slot of the migration's name, as its own pg_replication_slots has it.
struct standby_slot {
    std::string server;  // its name, for messages
    bool present = false;
    bool synced = false;
    std::string invalidation_reason{};
};

// Whether a failover would find the slot: one standby with a valid synced copy is enough. `advice`
// says for every standby without one what is to be done; it may be there although it is protected.
struct protection {
    bool given = false;
    std::vector<std::string> advice;
};

// `failover`: the primary's slot was made with failover = true.
[[nodiscard]] protection protection_of(bool failover, std::span<const standby_slot> standbys);

}  // namespace weir::migration
