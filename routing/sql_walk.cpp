#include "routing/sql_walk.hpp"

#include "routing/lexer.hpp"
#include "routing/session_effects.hpp"
#include "routing/sql_names.hpp"

#include <algorithm>
#include <array>

namespace weir::routing {

namespace {

template <class T>
void add_once(std::vector<T>& to, T value) {
    if (std::find(to.begin(), to.end(), value) == to.end()) {
        to.push_back(std::move(value));
    }
}

template <class T, std::size_t N>
T first_of(const std::array<T, N>& order, T a, T b) noexcept {
    const auto* const at_a = std::find(order.begin(), order.end(), a);
    const auto* const at_b = std::find(order.begin(), order.end(), b);
    return at_a <= at_b ? a : b;
}

const PgQuery__WithClause* with_clause_of(const tree_message& message) noexcept {
    if (is_type(message, pg_query__select_stmt__descriptor)) {
        return as<PgQuery__SelectStmt>(message).with_clause;
    }
    if (is_type(message, pg_query__insert_stmt__descriptor)) {
        return as<PgQuery__InsertStmt>(message).with_clause;
    }
    if (is_type(message, pg_query__update_stmt__descriptor)) {
        return as<PgQuery__UpdateStmt>(message).with_clause;
    }
    if (is_type(message, pg_query__delete_stmt__descriptor)) {
        return as<PgQuery__DeleteStmt>(message).with_clause;
    }
    if (is_type(message, pg_query__merge_stmt__descriptor)) {
        return as<PgQuery__MergeStmt>(message).with_clause;
    }
    return nullptr;
}

// The table that a statement changes; null for every other statement.
const PgQuery__RangeVar* target_of(const tree_message& message) noexcept {
    if (is_type(message, pg_query__insert_stmt__descriptor)) {
        return as<PgQuery__InsertStmt>(message).relation;
    }
    if (is_type(message, pg_query__update_stmt__descriptor)) {
        return as<PgQuery__UpdateStmt>(message).relation;
    }
    if (is_type(message, pg_query__delete_stmt__descriptor)) {
        return as<PgQuery__DeleteStmt>(message).relation;
    }
    if (is_type(message, pg_query__merge_stmt__descriptor)) {
        return as<PgQuery__MergeStmt>(message).relation;
    }
    return nullptr;
}

}  // namespace

void tree_walk::raise(primary_reason reason) noexcept {
    reason_ = weightier(reason_, reason);
}

void tree_walk::pin(pin_reason reason) noexcept {
    pin_ = weightier(pin_, reason);
}

void tree_walk::statement(const tree_message& message) {
    with_scope(message);
}

void tree_walk::walk(const tree_message* message) {
    if (message == nullptr || on_statement(*message) || on_name(*message)) {
        return;
    }
    walk_children(*message);
}

void tree_walk::walk_children(const tree_message& message) {
    children each(message);
    while (const auto* child = each.next()) {
        walk(child);
    }
}

void tree_walk::with_scope(const tree_message& message) {
    const auto visible = ctes_.size();
    if (const auto* target = target_of(message)) {
        on_relation(*target, false);
    }
    if (const auto* clause = with_clause_of(message)) {
        enter(*clause);
    }
    walk_children(message);
    ctes_.resize(visible);
}

// A WITH query sees those before it; with RECURSIVE it sees itself and those behind it, too.
void tree_walk::enter(const PgQuery__WithClause& clause) {
    const auto name_of = [](const tree_node* cte) {
        return cte->node_case == PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR
                   ? view(cte->common_table_expr->ctename)
                   : std::string_view{};
    };
    if (clause.recursive != 0) {
        for (std::size_t i = 0; i < clause.n_ctes; ++i) {
            ctes_.push_back(name_of(clause.ctes[i]));
        }
    }
    for (std::size_t i = 0; i < clause.n_ctes; ++i) {
        walk(content(clause.ctes[i]));
        if (clause.recursive == 0) {
            ctes_.push_back(name_of(clause.ctes[i]));
        }
    }
}

bool tree_walk::is_cte(std::string_view name) const noexcept {
    return std::find(ctes_.begin(), ctes_.end(), name) != ctes_.end();
}

// Parts that make or change something. True if nothing below is left to walk.
bool tree_walk::on_statement(const tree_message& message) {
    if (is_type(message, pg_query__select_stmt__descriptor)) {
        with_scope(message);
        return true;
    }
    if (target_of(message) != nullptr) {
        raise(primary_reason::modifying_cte);
        with_scope(message);
        return true;
    }
    if (is_type(message, pg_query__locking_clause__descriptor)) {
        raise(primary_reason::row_lock);
        return true;
    }
    if (is_type(message, pg_query__into_clause__descriptor)) {
        raise(primary_reason::select_into);
        return false;
    }
    // WITH clauses were entered with their statement. A constant has no names in it.
    return is_type(message, pg_query__with_clause__descriptor) ||
           is_type(message, pg_query__a__const__descriptor);
}

// Names of things the statement uses. True if nothing below is left to walk.
bool tree_walk::on_name(const tree_message& message) {
    if (is_type(message, pg_query__range_var__descriptor)) {
        on_relation(as<PgQuery__RangeVar>(message), true);
        return true;
    }
    if (is_type(message, pg_query__string__descriptor)) {
        if (is_temporary_schema(view(as<PgQuery__String>(message).sval))) {
            temporary_ = true;
            raise(primary_reason::temporary);
        }
        return true;
    }
    if (is_type(message, pg_query__func_call__descriptor)) {
        on_call(as<PgQuery__FuncCall>(message));
    } else if (is_type(message, pg_query__a__expr__descriptor)) {
        on_expression(as<PgQuery__AExpr>(message));
    } else if (is_type(message, pg_query__type_name__descriptor)) {
        on_type(as<PgQuery__TypeName>(message));
    } else if (is_type(message, pg_query__sub_link__descriptor)) {
        const auto& link = as<PgQuery__SubLink>(message);
        on_operator(link.oper_name, link.n_oper_name);
        if (link.testexpr != nullptr && link.n_oper_name == 0) {
            add_once<std::string>(out_.operators, "=");  // IN
        }
    } else if (is_type(message, pg_query__sort_by__descriptor)) {
        const auto& sort = as<PgQuery__SortBy>(message);
        on_operator(sort.use_op, sort.n_use_op);
    } else if (is_type(message, pg_query__case_expr__descriptor)) {
        if (as<PgQuery__CaseExpr>(message).arg != nullptr) {
            add_once<std::string>(out_.operators, "=");
        }
    } else if (is_type(message, pg_query__join_expr__descriptor)) {
        const auto& join = as<PgQuery__JoinExpr>(message);
        if (join.is_natural != 0 || join.n_using_clause > 0) {
            add_once<std::string>(out_.operators, "=");
        }
    } else if (is_type(message, pg_query__range_table_sample__descriptor)) {
        on_sample(as<PgQuery__RangeTableSample>(message));
    }
    return false;
}

void tree_walk::on_relation(const PgQuery__RangeVar& relation, bool may_be_cte) {
    const auto schema = view(relation.schemaname);
    const auto name = view(relation.relname);
    if (may_be_cte && schema.empty() && is_cte(name)) {
        return;
    }
    add_once(out_.relations, relation_name{std::string(schema), std::string(name)});
    if (view(relation.relpersistence) == "t" || is_temporary_schema(schema)) {
        temporary_ = true;
        raise(primary_reason::temporary);
    }
    const bool statistics = name.substr(0, 8) == "pg_stat_";  // of an extension, in whatever schema
    if ((is_built_in_schema(schema) || statistics) && is_node_dependent_relation(name)) {
        raise(primary_reason::node_dependent);
    }
}

void tree_walk::on_call(const PgQuery__FuncCall& call) {
    auto name = qualified_name(call.funcname, call.n_funcname);
    if (is_built_in_schema(name.schema)) {
        const auto& rule = function_rule(name.name);
        raise(rule.reason);
        pin(rule.pin);
        on_setting_call(call, name.name);
    }
    add_once(out_.functions, std::move(name));
}

void tree_walk::on_setting_call(const PgQuery__FuncCall& call, std::string_view function) {
    if (function == "current_setting") {
        std::string_view text;
        std::string setting;
        if (call.n_args > 0 && string_constant(call.args[0], text)) {
            std::transform(text.begin(), text.end(), std::back_inserter(setting), fold);
        }
        if (!is_session_setting(setting)) {
            raise(primary_reason::node_dependent);
        }
    } else if (function == "set_config") {
        raise(primary_reason::session_state);
        const bool understood =
            std::find(expected_.begin(), expected_.end(), &call) != expected_.end();
        if (!understood && !is_local_set_config(call)) {
            pin(pin_reason::setting_unknown);
        }
    }
}

// Some forms stand for operators that the tree does not name.
void tree_walk::on_expression(const PgQuery__AExpr& expression) {
    switch (expression.kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
        add_once<std::string>(out_.operators, ">=");
        add_once<std::string>(out_.operators, "<=");
        break;
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM:
        add_once<std::string>(out_.operators, "<");
        add_once<std::string>(out_.operators, ">");
        break;
    default: on_operator(expression.name, expression.n_name); break;
    }
}

void tree_walk::on_operator(tree_node* const* name, std::size_t count) {
    if (count > 0) {
        add_once(out_.operators, qualified_name(name, count).name);
    }
}

void tree_walk::on_type(const PgQuery__TypeName& type) {
    const auto name = qualified_name(type.names, type.n_names);
    if (!name.name.empty()) {
        add_once(out_.types, name.schema.empty() ? name.name : name.schema + "." + name.name);
    }
}

// The two built-in methods are harmless; any other belongs to an extension and is a function like
// others.
void tree_walk::on_sample(const PgQuery__RangeTableSample& sample) {
    auto method = qualified_name(sample.method, sample.n_method);
    if (method.name != "system" && method.name != "bernoulli") {
        add_once(out_.functions, std::move(method));
    }
}

primary_reason weightier(primary_reason a, primary_reason b) noexcept {
    using enum primary_reason;
    constexpr std::array order = {
        unparsed,      modifying_cte, select_into, ddl,          writes,          procedure,
        copy,          row_lock,      table_lock,  notification, explain_analyze, prepared_by_sql,
        temporary,     session_state, cursor,      transaction,  node_dependent,  other,
        several_kinds, none,
    };
    return first_of(order, a, b);
}

pin_reason weightier(pin_reason a, pin_reason b) noexcept {
    using enum pin_reason;
    constexpr std::array order = {
        session_mode,
        listen,
        prepared_by_sql,
        temporary_table,
        hold_cursor,
        load,
        function,
        setting_unknown,
        unparsed,
        advisory_lock,
        large_statement,
        none,
    };
    return first_of(order, a, b);
}

}  // namespace weir::routing
