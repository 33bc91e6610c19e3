// Schema `pgweir` on the primary, where migrations keep their state, so that it survives restarts
// and failover with the data.
//
//   meta        version of this schema
//   lease       who may write, for each migration; rows are never deleted, so that an epoch is
//               never given twice
//   migration   phase and positions
//   copy_range  how far the first copy has come
//   tombstone   deletes that a late row of the copy must not undo
//   dead_letter changes that the store refused
//   verify      how far verify has come, and what it has found
//
// Rights: whoever makes it needs CREATE on the database, or a schema `pgweir` of his own that is
// there already; afterwards he owns all of it.
#pragma once

#include "migration/sql.hpp"

#include <optional>
#include <string>

namespace weir::migration {

inline constexpr int journal_version = 2;

// Makes the schema if it is not there; two may try at a time. An error if it was made by a newer
// version of this program, if rights are missing, or if the connection is lost.
[[nodiscard]] std::optional<sql_error> ensure_journal(sql_session& session);

}  // namespace weir::migration
