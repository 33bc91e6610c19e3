#include "config/units.hpp"
#include "migration/journal_schema.hpp"
#include "migration/server_facts.hpp"

#include <algorithm>

namespace weir::migration {

namespace {

constexpr int least_version = 140000;  // pgoutput sends values in binary form
constexpr int version_with_failover = 170000;
// Below this age a transaction is expected to end by itself.
constexpr std::int64_t short_seconds = 10;
constexpr std::size_t most_named = 5;

class checking {
public:
    checking(const server_facts& facts, const config::migration& intent, std::vector<check>& out)
        : facts_(facts), intent_(intent), name_(object_name(intent.name)), out_(out) {}

    void server() {
        const auto version = std::to_string(facts_.version / 10000);
        if (facts_.standby) {
            add("server", verdict::refused, "is a standby: the primary is needed");
        } else if (facts_.version < least_version) {
            add("server", verdict::refused, "PostgreSQL " + version + "; expected 14 or later");
        } else {
            add("server", verdict::ok, "PostgreSQL " + version);
        }
    }

    void wal_level() {
        if (facts_.wal_level == "logical") {
            add("wal_level", verdict::ok, "logical");
        } else {
            add("wal_level",
                verdict::refused,
                "is " + facts_.wal_level +
                    ": ALTER SYSTEM SET wal_level = logical and restart the server, or use "
                    "capture: outbox");
        }
    }

    void replication_right() {
        if (facts_.may_replicate) {
            add("replication right", verdict::ok, facts_.role + " has REPLICATION");
        } else {
            add("replication right",
                verdict::refused,
                "ALTER ROLE " + quoted_name(facts_.role) + " REPLICATION");
        }
    }

    void publication() {
        const auto& found = facts_.publication;
        if (found.state == publication_state::fits) {
            add("publication", verdict::ok, name_ + " is there and fits");
        } else if (found.state == publication_state::other) {
            add("publication",
                verdict::refused,
                name_ + " is there and does not fit: " + found.difference + ". DROP PUBLICATION " +
                    name_ + ", if nobody else uses it");
        } else if (facts_.superuser || (facts_.owns_table && facts_.may_create)) {
            add("publication", verdict::ok, name_ + " will be made");
        } else {
            add("publication",
                verdict::refused,
                facts_.role +
                    " may not make it. Let the table's owner or a superuser do it: "
                    "CREATE PUBLICATION " +
                    name_ + " FOR TABLE " + intent_.table +
                    " WITH (publish_via_partition_root = false)");
        }
    }

    void slot() {
        if (facts_.slot && facts_.slot_in_journal) {
            add("slot", verdict::ok, name_ + " is there and belongs to this migration");
        } else if (facts_.slot) {
            add("slot",
                verdict::refused,
                name_ + " is there and is not in this migration's journal (plugin " +
                    facts_.slot->plugin + ", database " + facts_.slot->database +
                    "). If nobody reads from it: SELECT pg_drop_replication_slot('" + name_ + "')");
        } else if (facts_.slots_used >= facts_.slots) {
            add("slot",
                verdict::refused,
                "all " + std::to_string(facts_.slots) +
                    " replication slots are in use: drop one that is not needed, or raise "
                    "max_replication_slots and restart the server");
        } else {
            add("slot",
                verdict::ok,
                std::to_string(facts_.slots - facts_.slots_used) + " of " +
                    std::to_string(facts_.slots) + " are free");
        }
    }

    void senders() {
        if (facts_.senders_used >= facts_.senders) {
            add("walsenders",
                verdict::refused,
                "all " + std::to_string(facts_.senders) +
                    " are in use: raise max_wal_senders and restart the server");
        } else {
            add("walsenders",
                verdict::ok,
                std::to_string(facts_.senders - facts_.senders_used) + " of " +
                    std::to_string(facts_.senders) + " are free");
        }
    }

    void transactions() {
        std::string named;
        std::size_t count = 0;
        for (const auto& one : facts_.transactions) {
            if (!one.prepared && one.seconds && *one.seconds < short_seconds) {
                continue;
            }
            if (++count <= most_named) {
                const auto age = one.seconds ? std::to_string(*one.seconds) + " s" : "age hidden";
                named += (named.empty() ? "" : ", ") + one.name + " " + age;
            }
        }
        if (count == 0) {
            add("transactions", verdict::ok, "none that the making of the slot would wait for long"
            );
            return;
        }
        const auto more =
            count > most_named ? " and " + std::to_string(count - most_named) + " more" : "";
        add("transactions",
            verdict::warning,
            "the making of the slot waits until these have ended: " + named + more);
    }

    void retained_wal() {
        const auto own = intent_.max_retained_wal;
        if (facts_.keep_size < 0) {
            add("retained WAL",
                verdict::refused,
                "max_slot_wal_keep_size is -1: when the proxy is gone for good, the slot fills the "
                "primary's disk. ALTER SYSTEM SET max_slot_wal_keep_size = '" +
                    wanted_keep_size() + "' and SELECT pg_reload_conf(), or FORCE");
            out_.back().may_be_forced = true;
            return;
        }
        const auto keep = static_cast<std::uint64_t>(facts_.keep_size);
        const auto limit = config::print_size(keep);
        if (own == 0 || own > keep) {
            add("retained WAL",
                verdict::warning,
                "the server removes WAL that the slot needs beyond max_slot_wal_keep_size = " +
                    limit + ", before max_retained_wal" +
                    (own == 0 ? "" : " = " + config::print_size(own)) +
                    " is reached: set that lower");
        } else {
            add("retained WAL",
                verdict::ok,
                "at most " + config::print_size(own) + " by max_retained_wal, " + limit +
                    " by max_slot_wal_keep_size; the disk of pg_wal needs room for that");
        }
    }

    void idle_timeout() {
        const auto& limit = facts_.idle_slot_timeout;
        if (!limit.empty() && limit != "0") {
            add("idle slots",
                verdict::warning,
                "idle_replication_slot_timeout is " + limit +
                    ": a proxy that is away for longer finds its slot invalid and the store stale");
        }
    }

    void failover() {
        const std::string name = "failover";
        if (facts_.version < version_with_failover) {
            add(name,
                verdict::warning,
                "before PostgreSQL 17 a failover loses the slot: the gap is found, reads from the "
                "store stop, and verify with repair closes it");
        } else if (facts_.synchronized_slots.empty()) {
            add(name,
                verdict::warning,
                "the slot is made with failover = true. For it to follow a failover, set "
                "sync_replication_slots and hot_standby_feedback on the standbys, and "
                "synchronized_standby_slots to their slots here, so that the store never gets "
                "commits that a promoted standby lacks");
        } else {
            add(name,
                verdict::ok,
                "the slot is made with failover = true; synchronized_standby_slots is " +
                    facts_.synchronized_slots);
        }
        if (facts_.synchronous_standbys.empty()) {
            add("synchronous standby",
                verdict::ok,
                "none: commits that a failover loses may be in the store already; such documents "
                "are found and put right after it");
        } else {
            add("synchronous standby", verdict::ok, facts_.synchronous_standbys);
        }
    }

    void triggers() {
        const auto may = facts_.superuser || facts_.owns_table || facts_.may_trigger;
        if (may) {
            add("triggers", verdict::ok, facts_.role + " may make them");
        } else {
            add("triggers",
                verdict::refused,
                "GRANT TRIGGER ON " + intent_.table + " TO " + quoted_name(facts_.role));
        }
    }

    void schema() {
        const std::string name = "schema pgweir";
        if (!facts_.has_schema) {
            if (facts_.may_create) {
                add(name, verdict::ok, "will be made");
            } else {
                add(name,
                    verdict::refused,
                    facts_.role + " may not make it: CREATE SCHEMA pgweir AUTHORIZATION " +
                        quoted_name(facts_.role));
            }
        } else if (!facts_.may_use_schema) {
            add(name,
                verdict::refused,
                "is there, and " + facts_.role +
                    " may not use it: GRANT USAGE, CREATE ON SCHEMA "
                    "pgweir TO " +
                    quoted_name(facts_.role));
        } else if (!facts_.journal_made_by.empty() && facts_.journal_made_by != std::to_string(journal_version)) {
            add(name,
                verdict::refused,
                "has version " + facts_.journal_made_by + "; this program works with version " +
                    std::to_string(journal_version));
        } else {
            add(name, verdict::ok, facts_.journal_made_by.empty() ? "is there, empty" : "is there");
        }
    }

private:
    void add(std::string name, verdict result, std::string text) {
        out_.push_back({.name = std::move(name), .result = result, .text = std::move(text)});
    }

    // In a unit that PostgreSQL reads, with some room above our own limit.
    [[nodiscard]] std::string wanted_keep_size() const {
        constexpr std::uint64_t gib = 1ULL << 30;
        const auto own = intent_.max_retained_wal == 0 ? 64 * gib : intent_.max_retained_wal;
        return std::to_string((own + own / 4 + gib - 1) / gib) + "GB";
    }

    const server_facts& facts_;
    const config::migration& intent_;
    std::string name_;
    std::vector<check>& out_;
};

}  // namespace

std::vector<check> server_checks(const server_facts& facts, const config::migration& intent) {
    std::vector<check> out;
    checking all(facts, intent, out);
    all.server();
    all.schema();
    if (intent.capture == config::capture::outbox) {
        all.triggers();
        return out;
    }
    all.wal_level();
    all.replication_right();
    all.publication();
    all.slot();
    all.senders();
    all.transactions();
    all.retained_wal();
    all.idle_timeout();
    all.failover();
    return out;
}

}  // namespace weir::migration
