#include "routing/names.hpp"

namespace weir::routing {

std::string_view name_of(statement_kind kind) {
    switch (kind) {
    case statement_kind::empty: return "empty";
    case statement_kind::read: return "read";
    case statement_kind::write: return "write";
    case statement_kind::ddl: return "ddl";
    case statement_kind::begin: return "begin";
    case statement_kind::commit: return "commit";
    case statement_kind::rollback: return "rollback";
    case statement_kind::savepoint: return "savepoint";
    case statement_kind::release: return "release";
    case statement_kind::rollback_to: return "rollback_to";
    case statement_kind::prepare_transaction: return "prepare_transaction";
    case statement_kind::set_transaction: return "set_transaction";
    case statement_kind::set: return "set";
    case statement_kind::reset: return "reset";
    case statement_kind::show: return "show";
    case statement_kind::prepare: return "prepare";
    case statement_kind::execute: return "execute";
    case statement_kind::deallocate: return "deallocate";
    case statement_kind::discard: return "discard";
    case statement_kind::listen: return "listen";
    case statement_kind::unlisten: return "unlisten";
    case statement_kind::notify: return "notify";
    case statement_kind::declare_cursor: return "declare_cursor";
    case statement_kind::fetch: return "fetch";
    case statement_kind::close_cursor: return "close_cursor";
    case statement_kind::copy_in: return "copy_in";
    case statement_kind::copy_out: return "copy_out";
    case statement_kind::lock: return "lock";
    case statement_kind::explain: return "explain";
    case statement_kind::call: return "call";
    case statement_kind::do_block: return "do_block";
    case statement_kind::other: return "other";
    case statement_kind::unparsed: return "unparsed";
    }
    return "?";
}

std::string_view name_of(primary_reason reason) {
    switch (reason) {
    case primary_reason::none: return "none";
    case primary_reason::writes: return "writes";
    case primary_reason::modifying_cte: return "modifying_cte";
    case primary_reason::row_lock: return "row_lock";
    case primary_reason::select_into: return "select_into";
    case primary_reason::ddl: return "ddl";
    case primary_reason::transaction: return "transaction";
    case primary_reason::session_state: return "session_state";
    case primary_reason::cursor: return "cursor";
    case primary_reason::copy: return "copy";
    case primary_reason::table_lock: return "table_lock";
    case primary_reason::explain_analyze: return "explain_analyze";
    case primary_reason::notification: return "notification";
    case primary_reason::procedure: return "procedure";
    case primary_reason::prepared_by_sql: return "prepared_by_sql";
    case primary_reason::node_dependent: return "node_dependent";
    case primary_reason::temporary: return "temporary";
    case primary_reason::several_kinds: return "several_kinds";
    case primary_reason::unparsed: return "unparsed";
    case primary_reason::other: return "other";
    }
    return "?";
}

std::string_view name_of(pin_reason reason) {
    switch (reason) {
    case pin_reason::none: return "none";
    case pin_reason::temporary_table: return "temporary_table";
    case pin_reason::advisory_lock: return "advisory_lock";
    case pin_reason::hold_cursor: return "hold_cursor";
    case pin_reason::load: return "load";
    case pin_reason::listen: return "listen";
    case pin_reason::prepared_by_sql: return "prepared_by_sql";
    case pin_reason::setting_unknown: return "setting_unknown";
    case pin_reason::unparsed: return "unparsed";
    case pin_reason::function: return "function";
    case pin_reason::large_statement: return "large_statement";
    case pin_reason::session_mode: return "session_mode";
    }
    return "?";
}

}  // namespace weir::routing
