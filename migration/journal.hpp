// The durable state of one migration, in schema `pgweir` on the primary (journal_schema.hpp).
//
// Every statement that changes something names the epoch of the lease under which it is made, and
// locks that lease's row until it is committed: a writer that has lost the lease changes nothing,
// and a new owner's first look at the journal comes after the old owner's last change.
#pragma once

#include "migration/copier.hpp"
#include "migration/primary.hpp"
#include "migration/safekeeping.hpp"
#include "migration/state.hpp"
#include "migration/verify_progress.hpp"

#include <boost/system/result.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weir::migration {

enum class journal_fault : std::uint8_t {
    fenced,   // another process has the lease: nothing was changed
    refused,  // the server does not take it, or the state does not allow it: nothing was changed
};

struct journal_error {
    journal_fault what = journal_fault::refused;
    std::string text;  // one line
};

[[noreturn]] inline void
throw_exception_from_error(const journal_error& what, const boost::source_location&) {
    throw std::logic_error("unchecked error of the journal: " + what.text);
}

template <typename Value>
using journal_result = boost::system::result<Value, journal_error>;

struct migration_record {
    migration::phase phase = phase::off;
    std::string reason;  // of the phase, for people; may be empty
    std::string slot;
    std::string publication;
    // Of the server that the positions are of.
    std::uint64_t system_identifier = 0;
    std::uint32_t timeline = 0;
    std::uint64_t consistent_point = 0;  // of the slot; version of copied rows
    std::uint64_t confirmed = 0;         // all changes before it are in the store
    std::uint64_t sent = 0;              // none beyond it were sent; see confirm()
    // Added to the timeline in versions (written_timeline()), so that they are newer than what the
    // store held before the migration was forced, or had moved to another cluster.
    std::uint32_t history = 0;
    std::string fingerprint;            // JSON, see fingerprint.hpp
    std::vector<std::uint32_t> leaves;  // OIDs of the partitions that were handled

    // What stands for the timeline in versions.
    [[nodiscard]] std::uint32_t written_timeline() const noexcept { return history + timeline; }
};

// Where changes are captured from on: of a new slot or outbox.
struct capture_start {
    std::uint64_t system_identifier = 0;
    std::uint32_t timeline = 0;
    std::uint32_t history = 0;
    std::uint64_t consistent_point = 0;
};

struct letter {
    dead_letter what;
    std::vector<std::string> key_columns;  // the key's values as texts of plan.hpp
    std::string at;                        // ISO 8601, UTC
    std::uint32_t attempts = 1;
};

// What belongs to a document: {namespace, key as text of plan.hpp}.
using document_name = std::pair<std::string, std::string>;

// Threads: one at a time; each thread has its own. Calls block through lost connections, may be
// carried out twice then (all of them allow that), and throw `stopped` as `primary` does.
class journal {
public:
    // `server` outlives it. Reading needs no epoch.
    journal(primary& server, std::string migration, std::uint64_t epoch)
        : server_(server), migration_(std::move(migration)), epoch_(std::to_string(epoch)) {}

    // --- phase and positions: journal.cpp ---

    // Nothing if the migration is off.
    [[nodiscard]] journal_result<std::optional<migration_record>> load();

    // A row in phase `preparing`, from off or failed. Positions are zero.
    [[nodiscard]] journal_result<void> begin(
        const std::string& slot,
        const std::string& publication,
        const std::string& fingerprint,
        std::uint32_t history = 0
    );

    // Refused if the phase is not `from`, or `to` may not follow it.
    [[nodiscard]] journal_result<void>
    change_phase(phase from, phase to, const std::string& reason);

    // The same, with a new slot's position: its consistent point is confirmed and nothing is sent.
    [[nodiscard]] journal_result<void>
    change_phase_at(phase from, phase to, const capture_start& start);

    // Another reason for the phase, which stays. Refused if the phase is not this one.
    [[nodiscard]] journal_result<void> change_reason(phase of, const std::string& reason);

    // Positions on the timeline. To be called before `confirmed` is told to the slot, and before
    // anything beyond `sent` goes to the store; so both are written rarely, `sent` ahead of time.
    [[nodiscard]] journal_result<void>
    confirm(std::uint32_t timeline, std::uint64_t confirmed, std::uint64_t sent);

    // Partitions whose coming and going has been dealt with, see publication.hpp.
    [[nodiscard]] journal_result<void> save_leaves(std::span<const std::uint32_t> oids);

    // Everything but the lease's row. The phase has to be `removing`.
    [[nodiscard]] journal_result<void> forget();

    // --- first copy: journal_copy.cpp ---

    // Ranges of these numbers are replaced.
    [[nodiscard]] journal_result<void> save_ranges(std::span<const copy_range> ranges);
    [[nodiscard]] journal_result<void> save_progress(const copy_range& range);
    // By number.
    [[nodiscard]] journal_result<std::vector<copy_range>> ranges();
    [[nodiscard]] journal_result<void> drop_ranges();

    // --- tombstones: journal_tombstones.cpp ---

    [[nodiscard]] journal_result<void> bury(std::span<const safekeeping::grave> graves);
    [[nodiscard]] journal_result<std::vector<std::optional<version>>>
    buried(const std::string& space, std::span<const std::string> keys);
    // At most `limit`; returns how many, 0 when none is left.
    [[nodiscard]] journal_result<std::uint64_t> drop_tombstones(std::uint64_t limit = 10'000);

    // --- dead letters: journal_letters.cpp ---

    // An older letter of the same document gives way, its attempts are counted on.
    [[nodiscard]] journal_result<void> set_aside(std::span<const dead_letter> letters);
    // Oldest first. Their keys are texts: dead_letter::key holds one std::string for each column.
    [[nodiscard]] journal_result<std::vector<letter>> letters(std::uint64_t limit);
    [[nodiscard]] journal_result<std::uint64_t> count_letters();
    // Those that are not newer than `upto`, because the store has this version or a newer one.
    [[nodiscard]] journal_result<void>
    drop_letters(std::span<const document_name> documents, const version& upto);

    // --- verify: journal_verify.cpp ---

    // One for each migration: the newest.
    [[nodiscard]] journal_result<void> save_verify(const verify_progress& progress);
    // Nothing if there was none. Without examples.
    [[nodiscard]] journal_result<std::optional<verify_progress>> last_verify();
    // What it has looked at may have changed unseen.
    [[nodiscard]] journal_result<void> drop_verify();

private:
    using parameters = std::vector<std::optional<std::string>>;

    // `write` is an INSERT, UPDATE or DELETE with the condition "EXISTS (SELECT FROM fence)"; its
    // parameters begin with $3. Returns the count of rows that it wrote.
    [[nodiscard]] journal_result<std::uint64_t> fenced(const std::string& write, parameters more);
    // Reads; $1 is the migration.
    [[nodiscard]] journal_result<sql_rows> read(const std::string& query, parameters more = {});
    [[nodiscard]] journal_result<void>
    change_phase_with(const std::string& set, phase from, phase to, parameters more);

    primary& server_;
    std::string migration_;
    std::string epoch_;
};

// The elements of an array of texts as the server writes it; nothing if it is none. NULL elements
// are none.
[[nodiscard]] std::optional<std::vector<std::string>> parse_text_array(std::string_view text);

}  // namespace weir::migration
