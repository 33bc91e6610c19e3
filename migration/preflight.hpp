// What `start --dry-run` looks at: everything that would make a migration fail later, with what is
// to be done about it. Nothing is changed, on the source or in the store.
//
// What the migration's role needs, at least (grant_script() prints it):
//   LOGIN and REPLICATION        for the slot and the stream; with `capture: outbox` not
//   SELECT on the table          for the copy, for rows that are read again, for verify
//   schema pgweir                its own, made by an administrator; or CREATE on the database
//   publication pgweir_NAME      made by an administrator; or ownership of the table and CREATE on
//                                the database, since PostgreSQL lets only owners publish a table
// A superuser needs nothing else.
#pragma once

#include "config/config.hpp"
#include "migration/check.hpp"
#include "migration/source.hpp"
#include "migration/sql.hpp"
#include "migration/store/store.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir::migration {

struct preflight_report {
    std::vector<check> checks;  // in the order in which they should be put right
    migration::plan plan;       // means nothing where a check of the table was refused
    // Of a document that is newer than any change from now on would be.
    std::optional<version> newer_document{};
};

// `session` leads to the primary, at `where`, with the migration's role. `open_store` makes an
// adapter for the plan; it may throw std::runtime_error. Blocks for as long as the store's
// time-outs allow; reads the versions of all documents of the plan's namespaces, and calls
// `between` before each page, which may throw.
[[nodiscard]] preflight_report preflight(
    sql_session& session,
    const source_address& where,
    const config::migration& intent,
    const std::function<std::unique_ptr<store::store>(const plan&)>& open_store,
    const std::function<void()>& between
);

struct store_report {
    std::vector<check> checks;
    std::optional<version> newest{};  // of the documents that are there
};

// Whether the store takes documents of the plan: it answers, namespaces of the plan's that are
// there already have its dimensions and metric, and no document in them is newer than `now`, which
// changes from now on exceed. Without `now` the documents are the migration's own.
[[nodiscard]] store_report store_checks(
    store::store& target,
    const plan& what,
    std::optional<version> now,
    const std::function<void()>& between
);

// SQL for an administrator, for psql on the primary: the role, its rights, the schema and the
// publication. The password is left to \password.
[[nodiscard]] std::string
grant_script(const config::migration& intent, const std::string& server_database);

}  // namespace weir::migration
