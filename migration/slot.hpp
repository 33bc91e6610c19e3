// A replication slot as the primary shows it: whether it can be read from, how much WAL it holds
// back, and what the journal's position is compared with. Creating one is the stream's part.
#pragma once

#include "migration/continuity.hpp"
#include "migration/sql.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace weir::migration {

struct slot_report {
    std::optional<slot_state> slot;  // nothing: there is none of that name
    std::uint64_t retained = 0;      // bytes of WAL that it holds back
    std::uint64_t insert_lsn = 0;    // end of the WAL, see wal_end.hpp
    std::optional<sql_error> error;
};

// Asks a primary. For metrics, alerts and `max_retained_wal`; cheap enough for every second.
[[nodiscard]] slot_report read_slot(sql_session& session, const std::string& name);

struct server_answer {
    server_position position;
    std::optional<sql_error> error;
};

// Standby or not, system identifier, timeline: of whatever server the session leads to.
[[nodiscard]] server_answer read_identity(sql_session& session);

// All that continuity_of() wants to know, of whatever server the session leads to. The history of
// its timeline is read over a replication connection to the same address, which is opened for it.
[[nodiscard]] server_answer
read_server(sql_session& session, const source_address& where, const std::string& slot);

// One that is not there is no error; one that is in use is (55006).
[[nodiscard]] std::optional<sql_error> drop_slot(sql_session& session, const std::string& name);

}  // namespace weir::migration
