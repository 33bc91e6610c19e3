// What statements do to the settings of a session, as SQL that does the same on another server.
// Internal to routing.
#pragma once

#include "routing/sql_tree.hpp"
#include "routing/traits.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

// What SET, RESET or SET TRANSACTION is, and what it changes.
struct set_outcome {
    statement_kind kind = statement_kind::set;
    primary_reason reason = primary_reason::session_state;
    pin_reason pin = pin_reason::none;
};

// Appends the effects to out.settings, those on a setting of pgweir's own to out.own, and the
// options of a transaction to out.mode.
[[nodiscard]] set_outcome apply_set(const PgQuery__VariableSetStmt& statement, traits& out);

// SHOW name: notes one of pgweir's own in out.own.
void note_own_show(std::string_view name, traits& out);

// Options in the list of BEGIN, START TRANSACTION or SET TRANSACTION.
void apply_transaction_options(tree_node* const* options, std::size_t count, transaction_mode& out);

// A SELECT of nothing but calls and constants executes each item of its list exactly once, so
// set_config calls in it with a constant name are as good as SET.
struct select_effects {
    std::vector<setting_effect> settings;
    std::vector<const PgQuery__FuncCall*> understood;  // the calls those come from
    bool from_literals = false;  // a name or value is a literal, which the shape does not count
};

[[nodiscard]] select_effects effects_of(const PgQuery__SelectStmt& statement);

// Is the third argument of this set_config call, is_local, the constant true?
[[nodiscard]] bool is_local_set_config(const PgQuery__FuncCall& call) noexcept;

}  // namespace weir::routing
