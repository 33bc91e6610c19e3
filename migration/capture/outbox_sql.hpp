// What `capture: outbox` puts into the source database, and takes away again.
//
// Each migration has a table in schema pgweir, a trigger function that fills it, an AFTER ROW
// trigger on the table (PostgreSQL gives it to partitions, new ones too) and an AFTER TRUNCATE
// trigger on the table and on each partition. The outbox holds keys and the old tenant, no
// embeddings: rows are read again.
//
// The trigger names the key's columns and the tenant: while it is there, renaming or dropping one
// of them makes the application's writes fail.
#pragma once

#include "migration/plan.hpp"
#include "migration/sql.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace weir::migration {

// "pgweir"."outbox_<name>": id (in the order in which statements touched rows, of one key always
// that of their commits), xid, relid, operation ('i', 'u', 'd', 't'), new_1 …, old_1 …, old_tenant.
[[nodiscard]] std::string outbox_table(const plan& what);

// Installs everything in one transaction; what is there already stays. Ids of an outbox that is
// made now begin with `first`. Again after partitions have been made or attached. Waits at most 3 s
// for the table's lock (55P03), during which writers wait. Needs the right to create in the
// database, or the schema pgweir; TRIGGER on the table. As the table's owner it also makes the
// triggers fire for replicated writes (session_replication_role).
[[nodiscard]] std::optional<sql_error>
install_outbox(sql_session& on, const plan& what, std::uint64_t first = 1);

struct outbox_answer {
    std::optional<std::uint64_t> id;  // nothing: there is no outbox
    std::optional<sql_error> error;
};

// The id with which the outbox began.
[[nodiscard]] outbox_answer first_outbox_id(sql_session& on, const plan& what);

// Removes all of it, with the changes that wait, whether the table is still there or not.
[[nodiscard]] std::optional<sql_error> remove_outbox(sql_session& on, const std::string& migration);

}  // namespace weir::migration
