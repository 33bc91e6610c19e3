// What a migration needs on the source's server besides its slot: a publication of the table, and
// an eye on its partitions.
//
// The table itself is published, with publish_via_partition_root = false: then changes and
// TRUNCATEs of every leaf are sent under the leaf's own OID, from the moment of its ATTACH. But
// ATTACH, DETACH and DROP themselves send nothing (PostgreSQL documentation, "CREATE PUBLICATION"),
// so the leaves are compared with those that the migration has handled.
#pragma once

#include "migration/plan.hpp"
#include "migration/sql.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weir::migration {

// Of slot and publication: "pgweir_" and the migration's name.
[[nodiscard]] std::string object_name(const std::string& migration);

struct leaf {
    std::uint32_t oid = 0;
    std::string name;  // quoted where that is needed: public."Docs_2026"
    friend bool operator==(const leaf&, const leaf&) = default;
};

struct leaves_answer {
    std::vector<leaf> leaves;  // by OID
    std::optional<sql_error> error;
};

// The leaf partitions of a table at present; of one that has none itself.
[[nodiscard]] leaves_answer leaves_of(sql_session& session, std::uint32_t table_oid);

struct leaf_changes {
    std::vector<leaf> added;             // rows in them may be missing in the store
    std::vector<std::uint32_t> removed;  // documents of them are to be removed
    friend bool operator==(const leaf_changes&, const leaf_changes&) = default;
};

// Both by OID.
[[nodiscard]] leaf_changes
changes_of(std::span<const std::uint32_t> handled, std::span<const leaf> present);

// --- the publication ---

enum class publication_state : std::uint8_t {
    absent,
    fits,   // the table, no other, and all that is needed of it
    other,  // somebody else's, or changed
};

struct publication_answer {
    publication_state state = publication_state::absent;
    std::string difference;  // of `other`
    std::optional<sql_error> error;
};

[[nodiscard]] publication_answer find_publication(sql_session& session, const plan& what);

// Makes it, or leaves one that fits. Needs the table's owner and CREATE on the database; one that
// an administrator has made needs neither.
[[nodiscard]] std::optional<sql_error> ensure_publication(sql_session& session, const plan& what);

// One that is not there, or is another role's, is no error: whoever made it drops it.
[[nodiscard]] std::optional<sql_error>
drop_publication(sql_session& session, const std::string& name);

}  // namespace weir::migration
