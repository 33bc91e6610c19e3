// Where the columns of a plan stand in the rows of a relation, as a Relation message has it. Pure.
#pragma once

#include "migration/capture/pgoutput.hpp"
#include "migration/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::migration {

struct column_place {
    std::size_t index = 0;   // in the relation's tuples
    std::uint32_t type = 0;  // OID
    bool identity = false;   // part of the replica identity: old tuples hold it
};

struct relation_map {
    // Why rows of this relation cannot be used: a column is missing, or has another type or
    // dimension than the plan says. Empty: they can.
    std::string trouble;
    std::size_t columns = 0;  // of each tuple
    std::vector<column_place> key;
    column_place embedding;
    std::vector<column_place> attributes;
};

// Types that are not built in, by OID, as Type messages have told them: "public.vector"; ".int4" is
// a domain over a type of pg_catalog.
using type_names = std::unordered_map<std::uint32_t, std::string>;

// Columns are found by name. The embedding must be of the plan's type (vector or halfvec), and of
// its dimension where the type says one: in a column without (a domain, or plain `vector`) rows may
// differ. Other columns must be of a type of the same kind.
[[nodiscard]] relation_map
map_relation(const plan& what, const pgoutput::relation& from, const type_names& types);

}  // namespace weir::migration
