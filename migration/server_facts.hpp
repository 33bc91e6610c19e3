// What a primary says about itself that a migration depends on, and what follows. For preflight.cpp
// and its tests.
#pragma once

#include "config/config.hpp"
#include "migration/check.hpp"
#include "migration/continuity.hpp"
#include "migration/publication.hpp"
#include "migration/sql.hpp"
#include "migration/version.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::migration {

// A transaction that has a transaction id: the making of a slot waits for its end.
struct running_transaction {
    std::string name;  // "pid 123" or "prepared 'gid'", with user and database where known
    std::optional<std::int64_t> seconds;  // its age; hidden from roles without pg_read_all_stats
    bool prepared = false;
};

struct server_facts {
    int version = 0;  // server_version_num
    bool standby = false;
    std::string wal_level;
    int slots = 0;  // max_replication_slots, and those in use
    int slots_used = 0;
    int senders = 0;  // max_wal_senders, and those in use
    int senders_used = 0;
    std::int64_t keep_size = -1;  // max_slot_wal_keep_size in bytes
    std::string synchronous_standbys;
    std::string synchronized_slots;  // 17+: synchronized_standby_slots
    std::string idle_slot_timeout;   // 18+: idle_replication_slot_timeout; empty or "0": none
    std::string role;
    bool may_replicate = false;
    bool superuser = false;
    bool may_create = false;   // schemas and publications in the database
    bool owns_table = false;   // or is a member of the owner
    bool may_trigger = false;  // TRIGGER on the table
    bool has_schema = false;
    bool may_use_schema = false;   // CREATE and USAGE in it
    std::string journal_made_by;   // its version; empty: it is not there
    bool slot_in_journal = false;  // the migration has been started, so the slot is its own
    bool under_way = false;        // … and has not failed: what the store holds is its own, too
    // Versions of changes from now on are newer than this one; see migration_record::history.
    migration::version now;
    std::optional<slot_state> slot;
    publication_answer publication;
    std::vector<running_transaction> transactions;
};

struct facts_answer {
    server_facts facts;
    std::optional<sql_error> error;
};

// Of the session's server and role.
[[nodiscard]] facts_answer read_facts(sql_session& session, const plan& what);

// Pure.
[[nodiscard]] std::vector<check>
server_checks(const server_facts& facts, const config::migration& intent);

}  // namespace weir::migration
