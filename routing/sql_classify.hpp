// What one statement of a text is. Internal to routing.
#pragma once

#include "routing/sql_tree.hpp"
#include "routing/traits.hpp"

namespace weir::routing {

struct classification {
    statement_kind kind = statement_kind::other;
    primary_reason reason = primary_reason::other;
    pin_reason pin = pin_reason::none;
};

// Adds names, settings, savepoints, transaction marks and a vector search to `out`; leaves its
// kind, reason, pin and count of statements alone.
[[nodiscard]] classification classify(const tree_node& statement, traits& out);

}  // namespace weir::routing
