// Changes of the source in commit order, as capture hands them on.
#pragma once

#include "migration/document.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace weir::migration {

// A row as the source has it.
struct source_row {
    migration::key key;
    // Absent: NULL in the source. Not known (an unchanged TOASTed value that no old tuple holds):
    // see `embedding_unknown`.
    std::optional<std::vector<float>> embedding;
    bool embedding_unknown = false;
    std::vector<value> attributes;  // in the plan's order
    // Indexes of attributes that are unchanged TOASTed values and not known.
    std::vector<std::size_t> unknown;
    std::uint32_t part = 0;
};

struct row_written {  // INSERT and UPDATE
    source_row row;
    // What identifies the row before an UPDATE, where the server sent it: key, and the namespace if
    // the tenant is part of the replica identity.
    std::optional<migration::key> old_key;
    std::optional<value> old_tenant;
    bool inserted = false;
};

struct row_deleted {
    migration::key key;
    std::optional<value> tenant;  // where the replica identity holds it
};

// TRUNCATE of the table, or of one partition.
struct emptied {
    std::uint32_t part = 0;  // 0: all
};

// The source changed in a way that the stream cannot follow: the migration pauses.
struct unusable {
    std::string reason;
};

struct change {
    std::variant<row_written, row_deleted, emptied, unusable> what;
    migration::version version;
    std::uint32_t transaction = 0;  // its id without the epoch; 0: not known
};

}  // namespace weir::migration
