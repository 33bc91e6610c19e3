// Vectors in another PostgreSQL with pgvector: a table for each namespace, in schema pgweir_store.
#pragma once

#include "migration/sql.hpp"
#include "migration/store/store.hpp"

#include <chrono>
#include <memory>

namespace weir::migration::store {

// The table bears the namespace's name (beyond 63 bytes a shortened one; its comment has it whole)
// and the source's columns: those of the key as primary key, `embedding`, the attributes, and
// _pgweir_version and _pgweir_part. Built-in types stay what they are in the source. Enumerations,
// and domains and types of extensions, become text or what they are made of, so that a label or a
// check that was added to the source stops nothing here.
//
// Connects at the first call, and again after a connection was lost. `request_timeout` bounds every
// statement but for index().
[[nodiscard]] std::unique_ptr<store> make_postgres(
    const source_address& where,
    const layout& rows,
    std::chrono::milliseconds request_timeout = std::chrono::seconds(60)
);

}  // namespace weir::migration::store
