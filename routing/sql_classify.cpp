#include "routing/sql_classify.hpp"

#include "routing/lexer.hpp"
#include "routing/session_effects.hpp"
#include "routing/sql_walk.hpp"
#include "routing/vector_search.hpp"

#include <algorithm>
#include <array>

namespace weir::routing {

namespace {

using kind = statement_kind;
using reason = primary_reason;

struct simple_rule {
    PgQuery__Node__NodeCase statement;
    classification result;
};

// Statements that are always the same. Whatever is neither here nor handled by a function below is
// DDL.
constexpr std::array simple_rules = {
    simple_rule{PG_QUERY__NODE__NODE_INSERT_STMT, {kind::write, reason::writes}},
    simple_rule{PG_QUERY__NODE__NODE_UPDATE_STMT, {kind::write, reason::writes}},
    simple_rule{PG_QUERY__NODE__NODE_DELETE_STMT, {kind::write, reason::writes}},
    simple_rule{PG_QUERY__NODE__NODE_MERGE_STMT, {kind::write, reason::writes}},
    simple_rule{PG_QUERY__NODE__NODE_TRUNCATE_STMT, {kind::write, reason::writes}},
    simple_rule{PG_QUERY__NODE__NODE_REFRESH_MAT_VIEW_STMT, {kind::write, reason::writes}},
    simple_rule{PG_QUERY__NODE__NODE_VACUUM_STMT, {kind::other, reason::writes}},
    simple_rule{PG_QUERY__NODE__NODE_CHECK_POINT_STMT, {kind::other, reason::other}},
    simple_rule{PG_QUERY__NODE__NODE_ALTER_SYSTEM_STMT, {kind::other, reason::other}},
    simple_rule{
        PG_QUERY__NODE__NODE_LOAD_STMT,
        {kind::other, reason::session_state, pin_reason::load}},
    simple_rule{PG_QUERY__NODE__NODE_LOCK_STMT, {kind::lock, reason::table_lock}},
    simple_rule{PG_QUERY__NODE__NODE_NOTIFY_STMT, {kind::notify, reason::notification}},
    simple_rule{
        PG_QUERY__NODE__NODE_LISTEN_STMT,
        {kind::listen, reason::notification, pin_reason::listen}},
    simple_rule{PG_QUERY__NODE__NODE_UNLISTEN_STMT, {kind::unlisten, reason::notification}},
    simple_rule{
        PG_QUERY__NODE__NODE_CALL_STMT,
        {kind::call, reason::procedure, pin_reason::function}},
    simple_rule{
        PG_QUERY__NODE__NODE_DO_STMT,
        {kind::do_block, reason::procedure, pin_reason::function}},
    simple_rule{
        PG_QUERY__NODE__NODE_PREPARE_STMT,
        {kind::prepare, reason::prepared_by_sql, pin_reason::prepared_by_sql}},
    simple_rule{
        PG_QUERY__NODE__NODE_EXECUTE_STMT,
        {kind::execute, reason::prepared_by_sql, pin_reason::prepared_by_sql}},
    simple_rule{PG_QUERY__NODE__NODE_FETCH_STMT, {kind::fetch, reason::cursor}},
    simple_rule{PG_QUERY__NODE__NODE_CLOSE_PORTAL_STMT, {kind::close_cursor, reason::cursor}},
    simple_rule{
        PG_QUERY__NODE__NODE_CONSTRAINTS_SET_STMT,
        {kind::set_transaction, reason::transaction}},
    // Configuration files differ between servers, and what a server is even more; the price of
    // asking the primary is nothing.
    simple_rule{PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT, {kind::show, reason::node_dependent}},
};

classification classify_simple(const tree_node& statement, traits& out) {
    const auto rule =
        std::find_if(simple_rules.begin(), simple_rules.end(), [&statement](const auto& r) {
            return r.statement == statement.node_case;
        });
    auto result =
        rule == simple_rules.end() ? classification{kind::ddl, reason::ddl} : rule->result;
    tree_walk walk(out);
    walk.statement(*content(&statement));
    result.pin = weightier(result.pin, walk.pin());
    if (result.kind == kind::ddl && walk.temporary()) {
        return {kind::ddl, reason::temporary, pin_reason::temporary_table};
    }
    return result;
}

classification classify_select(const PgQuery__SelectStmt& query, traits& out) {
    tree_walk walk(out);
    auto effects = effects_of(query);
    walk.expect(std::move(effects.understood));
    walk.walk(&query.base);
    out.settings.insert(out.settings.end(), effects.settings.begin(), effects.settings.end());
    out.settings_from_text = out.settings_from_text || effects.from_literals;
    out.is_vector_search = out.is_vector_search || find_vector_search(query, out.search);
    classification result{kind::read, walk.reason(), walk.pin()};
    switch (result.reason) {
    case reason::modifying_cte:
    case reason::select_into:
    case reason::writes:
    case reason::notification: result.kind = kind::write; break;
    default: break;
    }
    if (walk.reason() == reason::select_into && walk.temporary()) {
        result.pin = weightier(result.pin, pin_reason::temporary_table);
    }
    return result;
}

classification classify_table_as(const PgQuery__CreateTableAsStmt& statement, traits& out) {
    tree_walk walk(out);
    walk.statement(statement.base);
    if (walk.temporary()) {
        return {kind::ddl, reason::temporary, pin_reason::temporary_table};
    }
    return {kind::ddl, reason::ddl, walk.pin()};
}

// EXPLAIN's own reading of an option: no value, a number but 0, true, on.
bool is_on(const PgQuery__DefElem& option) {
    const auto* value = option.arg;
    if (value == nullptr) {
        return true;
    }
    switch (value->node_case) {
    case PG_QUERY__NODE__NODE_INTEGER: return value->integer->ival != 0;
    case PG_QUERY__NODE__NODE_BOOLEAN: return value->boolean->boolval != 0;
    case PG_QUERY__NODE__NODE_STRING: {
        const auto text = text_of(value);
        return !same_word(text, "false") && !same_word(text, "off");
    }
    default: return true;  // refused by the server, or to be on the safe side
    }
}

bool executes(const PgQuery__ExplainStmt& statement) {
    bool result = false;
    for (std::size_t i = 0; i < statement.n_options; ++i) {
        const auto* option = statement.options[i];
        result = result || (option->node_case == PG_QUERY__NODE__NODE_DEF_ELEM &&
                            same_word(view(option->def_elem->defname), "analyze") &&
                            is_on(*option->def_elem));
    }
    return result;
}

classification classify_explain(const PgQuery__ExplainStmt& statement, traits& out) {
    if (statement.query == nullptr) {
        return {kind::explain, reason::other};
    }
    const bool analyze = executes(statement);
    const auto settings = out.settings.size();
    const auto inner = classify(*statement.query, out);
    if (!analyze) {
        out.settings.resize(settings);
        const bool read = inner.kind == kind::read;
        return {read ? kind::read : kind::explain, inner.reason};
    }
    const bool read = inner.kind == kind::read;
    return {kind::explain, read ? inner.reason : reason::explain_analyze, inner.pin};
}

classification classify_copy(const PgQuery__CopyStmt& statement, traits& out) {
    if (statement.is_from != 0) {
        tree_walk walk(out);
        walk.statement(statement.base);
        return {kind::copy_in, reason::copy, walk.pin()};
    }
    classification inner{kind::read, reason::none};
    if (statement.query != nullptr) {
        inner = classify(*statement.query, out);
    } else {
        tree_walk walk(out);
        walk.statement(statement.base);
        inner.reason = walk.reason();
    }
    // A file or program is one of the server's own machine.
    const bool elsewhere = !view(statement.filename).empty() || statement.is_program != 0;
    const bool read = inner.kind == kind::read && inner.reason == reason::none && !elsewhere;
    return {kind::copy_out, read ? reason::none : reason::copy, inner.pin};
}

classification classify_cursor(const PgQuery__DeclareCursorStmt& statement, traits& out) {
    constexpr std::int32_t hold =
        0x0020;  // CURSOR_OPT_HOLD of parsenodes.h, the same since PostgreSQL 8.3
    classification inner;
    if (statement.query != nullptr) {
        inner = classify(*statement.query, out);
        out.is_vector_search = false;
    }
    const auto own = (statement.options & hold) != 0 ? pin_reason::hold_cursor : pin_reason::none;
    return {kind::declare_cursor, reason::cursor, weightier(own, inner.pin)};
}

classification classify_transaction(const PgQuery__TransactionStmt& statement, traits& out) {
    const auto savepoint = [&](kind k) {
        out.savepoints.emplace_back(view(statement.savepoint_name));
        return classification{k, reason::transaction};
    };
    const auto end = [&](kind k) {
        out.ends_transaction = true;
        out.chains_transaction = out.chains_transaction || statement.chain != 0;
        return classification{k, reason::transaction};
    };
    switch (statement.kind) {
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_BEGIN:
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_START:
        out.begins_transaction = true;
        apply_transaction_options(statement.options, statement.n_options, out.mode);
        return {kind::begin, reason::transaction};
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT: return end(kind::commit);
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK: return end(kind::rollback);
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_SAVEPOINT: return savepoint(kind::savepoint);
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_RELEASE: return savepoint(kind::release);
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_TO:
        return savepoint(kind::rollback_to);
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_PREPARE: return end(kind::prepare_transaction);
    // These two run outside a transaction and end none of this session's.
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT_PREPARED:
        return {kind::commit, reason::transaction};
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_PREPARED:
        return {kind::rollback, reason::transaction};
    default: return {kind::other, reason::transaction};
    }
}

// DISCARD ALL leaves the session as SET SESSION AUTHORIZATION DEFAULT and RESET ALL do, among other
// things.
classification classify_discard(const PgQuery__DiscardStmt& statement, traits& out) {
    if (statement.target == PG_QUERY__DISCARD_MODE__DISCARD_ALL) {
        out.discards_all = true;
        out.deallocates_all = true;
        out.settings.push_back({setting_action::reset, "session_authorization", "", 0});
        out.settings.push_back({setting_action::set, "role", "'none'", 0});
        out.settings.push_back({setting_action::reset_all, "", "", 0});
    }
    return {kind::discard, reason::session_state};
}

classification classify_deallocate(const PgQuery__DeallocateStmt& statement, traits& out) {
    out.deallocates_all = out.deallocates_all || view(statement.name).empty();
    return {kind::deallocate, reason::prepared_by_sql};
}

}  // namespace

classification classify(const tree_node& statement, traits& out) {
    switch (statement.node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT: return classify_select(*statement.select_stmt, out);
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
        return classify_table_as(*statement.create_table_as_stmt, out);
    case PG_QUERY__NODE__NODE_EXPLAIN_STMT: return classify_explain(*statement.explain_stmt, out);
    case PG_QUERY__NODE__NODE_COPY_STMT: return classify_copy(*statement.copy_stmt, out);
    case PG_QUERY__NODE__NODE_DECLARE_CURSOR_STMT:
        return classify_cursor(*statement.declare_cursor_stmt, out);
    case PG_QUERY__NODE__NODE_TRANSACTION_STMT:
        return classify_transaction(*statement.transaction_stmt, out);
    case PG_QUERY__NODE__NODE_DISCARD_STMT: return classify_discard(*statement.discard_stmt, out);
    case PG_QUERY__NODE__NODE_DEALLOCATE_STMT:
        return classify_deallocate(*statement.deallocate_stmt, out);
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT: {
        const auto set = apply_set(*statement.variable_set_stmt, out);
        return {set.kind, set.reason, set.pin};
    }
    case PG_QUERY__NODE__NODE_VARIABLE_SHOW_STMT:
        note_own_show(view(statement.variable_show_stmt->name), out);
        return classify_simple(statement, out);
    case PG_QUERY__NODE__NODE__NOT_SET: return {kind::empty, reason::none};
    default: return classify_simple(statement, out);
    }
}

}  // namespace weir::routing
