// What the catalog says of a migration's table.
#pragma once

#include "migration/sql.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::migration {

struct source_column {
    std::string name;
    std::string type;            // as format_type() writes it
    std::uint32_t base_oid = 0;  // of the type, or of the one below its domains
    std::string base_name;
    char base_kind = 'b';        // pg_type.typtype of that: b base type, e enumeration, …
    std::string extension;       // that the base type belongs to; empty: none
    std::int32_t modifier = -1;  // of the base type; pgvector: the dimensions
    bool not_null = false;       // also by a domain
    bool generated = false;      // GENERATED ALWAYS AS (…) STORED
};

// The table, or each leaf of a partitioned one.
struct source_leaf {
    std::string name;                   // quoted where needed
    char replica_identity = 'd';        // d default, i index, f full, n nothing
    std::vector<std::string> identity;  // columns of the index for d and i; empty: there is none
};

struct ann_index {
    std::string name;
    std::string operator_class;  // "vector_cosine_ops"
};

struct source_table {
    std::uint32_t oid = 0;
    char kind = 'r';            // pg_class.relkind
    char persistence = 'p';     // p permanent, u unlogged, t temporary
    bool row_security = false;  // rows are hidden from the session's role
    bool inherited = false;     // tables that are no partitions inherit from it
    bool readable = true;       // the session's role may SELECT
    std::vector<source_column> columns;
    std::vector<source_leaf> leaves;
    // Columns of each unique index that holds for all rows at any time.
    std::vector<std::vector<std::string>> unique_keys;
    std::vector<ann_index> ann;  // on the embedding, also of the leaves
};

struct table_answer {
    std::optional<source_table> table;  // nothing: there is none of that name
    std::optional<sql_error> error;
};

[[nodiscard]] table_answer read_table(
    sql_session& session,
    const std::string& schema,
    const std::string& name,
    const std::string& embedding
);

}  // namespace weir::migration
