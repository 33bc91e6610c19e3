#include "migration/continuity.hpp"

#include "routing/position.hpp"

#include <algorithm>
#include <charconv>

namespace weir::migration {

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t\r";
    const auto start = text.find_first_not_of(blank);
    if (start == std::string_view::npos) {
        return {};
    }
    return text.substr(start, text.find_last_not_of(blank) - start + 1);
}

// The text up to a blank, taken off the front.
std::string_view take_word(std::string_view& text) {
    text = trimmed(text);
    const auto word = text.substr(0, text.find_first_of(" \t"));
    text.remove_prefix(word.size());
    return word;
}

std::string lsn_text(std::uint64_t at) {
    return routing::to_string(routing::lsn{at});
}

// Where the journal's timeline ended on the way to the server's; nothing if it is none of its past.
std::optional<std::uint64_t> end_of(std::uint32_t timeline, const server_position& server) {
    const auto found =
        std::find_if(server.history.begin(), server.history.end(), [&](const timeline_end& one) {
            return one.timeline == timeline;
        });
    return found == server.history.end() ? std::nullopt : std::optional(found->end);
}

// Why the slot, wherever it stands, cannot be read from.
std::optional<std::string> unusable_slot(const std::optional<slot_state>& slot) {
    if (!slot) {
        return "the slot is not there";
    }
    if (slot->plugin != "pgoutput") {
        return "the slot of that name belongs to somebody else: its plugin is '" + slot->plugin +
               "'";
    }
    if (!slot->invalidation_reason.empty()) {
        return "the server has invalidated the slot: " + slot->invalidation_reason;
    }
    if (slot->wal_status == "lost") {
        return "the server has removed WAL that the slot needs";
    }
    if (slot->conflicting) {
        return "the slot conflicts with recovery";
    }
    return std::nullopt;
}

std::string made_anew(std::uint64_t slot_at, std::string_view limit_name, std::uint64_t limit) {
    return "the slot stands at " + lsn_text(slot_at) + ", beyond " + std::string(limit_name) + " " +
           lsn_text(limit) + ": it was made anew or moved, and what lies between was missed";
}

continuity on_one_timeline(const journal_position& journal, const server_position& server) {
    if (auto reason = unusable_slot(server.slot)) {
        return gap{.reason = std::move(*reason)};
    }
    const auto at = server.slot->confirmed_flush;
    if (at > journal.confirmed) {
        return gap{.reason = made_anew(at, "the confirmed position", journal.confirmed)};
    }
    return carries_on{.from = journal.confirmed};
}

continuity
after_switch(const journal_position& journal, const server_position& server, std::uint64_t end) {
    std::optional<lost_tail> tail;
    // Nobody remembers what was sent, or it was more than the new timeline took over.
    if (!journal.sent || *journal.sent > end) {
        tail = lost_tail{.timeline = journal.timeline, .end = end};
    }
    if (auto reason = unusable_slot(server.slot)) {
        return gap{
            .reason = *reason + " after the switch to timeline " + std::to_string(server.timeline),
            .tail = tail};
    }
    // Up to the end of the old timeline a synchronised slot holds what was confirmed there, even if
    // the journal's note of it came too late to be replicated. Beyond it stands a new slot.
    const auto at = server.slot->confirmed_flush;
    if (at > end) {
        return gap{.reason = made_anew(at, "the end of the old timeline", end), .tail = tail};
    }
    return carries_on{.from = std::min(journal.confirmed, end), .tail = tail};
}

}  // namespace

std::optional<std::vector<timeline_end>> parse_history(std::string_view text) {
    std::vector<timeline_end> entries;
    while (!text.empty()) {
        const auto line_end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, line_end);
        text.remove_prefix(std::min(line_end + 1, text.size()));
        const auto number = take_word(line);
        if (number.empty() || number.front() == '#') {
            continue;
        }
        timeline_end entry;
        const auto* const stop = number.data() + number.size();
        const auto [rest, ec] = std::from_chars(number.data(), stop, entry.timeline);
        const auto at = routing::parse_lsn(take_word(line));
        if (ec != std::errc() || rest != stop || !at) {
            return std::nullopt;
        }
        entry.end = at->value;
        entries.push_back(entry);
    }
    return entries;
}

std::string of_other_cluster(std::uint64_t system_identifier, std::uint64_t expected) {
    return std::string(other_cluster) + ": its system identifier is " +
           std::to_string(system_identifier) + ", not " + std::to_string(expected);
}

continuity continuity_of(const journal_position& journal, const server_position& server) {
    if (server.standby) {
        return not_yet{.reason = "the server is a standby"};
    }
    if (server.system_identifier != journal.system_identifier) {
        return gap{.reason = of_other_cluster(server.system_identifier, journal.system_identifier)};
    }
    if (server.timeline == journal.timeline) {
        return on_one_timeline(journal, server);
    }
    if (server.timeline < journal.timeline) {
        return not_yet{
            .reason = "the server is on timeline " + std::to_string(server.timeline) +
                      ", which timeline " + std::to_string(journal.timeline) + " has replaced"};
    }
    if (const auto end = end_of(journal.timeline, server)) {
        return after_switch(journal, server, *end);
    }
    return gap{
        .reason = "timeline " + std::to_string(journal.timeline) +
                  " is not in the history of the server's timeline " +
                  std::to_string(server.timeline)};
}

protection protection_of(bool failover, std::span<const standby_slot> standbys) {
    protection result;
    if (!failover) {
        result.advice.emplace_back(
            "the slot was made without failover: remove and start the migration again on "
            "PostgreSQL 17 or later, else a failover leaves a gap that verify and repair must close"
        );
        return result;
    }
    if (standbys.empty()) {
        result.advice.emplace_back("there is no standby that could hold a copy of the slot");
    }
    for (const auto& one : standbys) {
        if (!one.present) {
            result.advice.push_back(
                one.server +
                " has no copy of the slot: set sync_replication_slots = on, "
                "hot_standby_feedback = on, primary_slot_name, and dbname in "
                "primary_conninfo there"
            );
        } else if (!one.synced) {
            result.advice.push_back(
                one.server +
                " has a slot of its own of that name, left from its time as primary, "
                "which stops the synchronisation of all slots: drop it there with "
                "pg_drop_replication_slot"
            );
        } else if (!one.invalidation_reason.empty()) {
            result.advice.push_back(
                one.server + " has a copy of the slot that is invalid: " + one.invalidation_reason
            );
        } else {
            result.given = true;
        }
    }
    return result;
}

}  // namespace weir::migration
