// Recognises nearest-neighbour queries of pgvector and VectorChord. Internal to routing.
#pragma once

#include "routing/sql_tree.hpp"
#include "routing/traits.hpp"

namespace weir::routing {

// True if the query orders by a distance first, nearest first: ORDER BY column <operator> vector [,
// …] [LIMIT k], in itself or in the sub-query or WITH query that is all of its FROM. Fills `out`
// then; what cannot be told (the table of an unqualified column of a join, a limit that is no
// constant) stays as it is.
[[nodiscard]] bool find_vector_search(const PgQuery__SelectStmt& query, vector_search& out);

}  // namespace weir::routing
