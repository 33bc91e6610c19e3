#include "routing/vector_search.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace weir::routing {

namespace {

// pgvector: <-> L2, <=> cosine, <#> inner product, <+> L1, <~> Hamming, <%> Jaccard. VectorChord
// adds the rest.
constexpr std::array<std::string_view, 11> distance_operators = {
    "<->",
    "<=>",
    "<#>",
    "<+>",
    "<~>",
    "<%>",
    "<&>",
    "@#",
    "<<->>",
    "<<=>>",
    "<<#>>",
};

// The queries of a WITH clause that can be named at some place, and those of the clauses around it.
struct with_scope {
    const PgQuery__WithClause* clause = nullptr;
    std::size_t visible = 0;  // the first so many of the clause
    const with_scope* outer = nullptr;
};

with_scope scope_of(const PgQuery__SelectStmt& query, const with_scope* outer) {
    const auto* clause = query.with_clause;
    return {clause, clause == nullptr ? 0 : clause->n_ctes, outer};
}

// A query found behind a name, and what it sees itself: of its own WITH clause only the queries
// before it.
struct found_query {
    const PgQuery__SelectStmt* query = nullptr;
    with_scope around;
};

found_query find_cte(std::string_view name, const with_scope* scope) {
    for (; scope != nullptr; scope = scope->outer) {
        for (std::size_t i = 0; i < scope->visible; ++i) {
            const auto* cte = scope->clause->ctes[i]->common_table_expr;
            if (view(cte->ctename) != name) {
                continue;
            }
            const bool is_query = cte->ctequery != nullptr &&
                                  cte->ctequery->node_case == PG_QUERY__NODE__NODE_SELECT_STMT &&
                                  scope->clause->recursive == 0;
            return {
                is_query ? cte->ctequery->select_stmt : nullptr,
                {scope->clause, i, scope->outer}};
        }
    }
    return {};
}

// The query behind an item of FROM: a sub-query or WITH query. Null for tables, functions and
// joins.
found_query query_behind(const tree_node* item, const with_scope& scope) {
    if (item->node_case == PG_QUERY__NODE__NODE_RANGE_SUBSELECT) {
        const auto* sub = item->range_subselect->subquery;
        const bool is_query = sub != nullptr && sub->node_case == PG_QUERY__NODE__NODE_SELECT_STMT;
        return {is_query ? sub->select_stmt : nullptr, scope};
    }
    if (item->node_case == PG_QUERY__NODE__NODE_RANGE_VAR &&
        view(item->range_var->schemaname).empty()) {
        return find_cte(view(item->range_var->relname), &scope);
    }
    return {};
}

// The column a distance is taken from: through casts and functions such as
// binary_quantize(e)::bit(64).
const PgQuery__ColumnRef* column_in(const tree_node* node) {
    while (node != nullptr) {
        switch (node->node_case) {
        case PG_QUERY__NODE__NODE_COLUMN_REF: return node->column_ref;
        case PG_QUERY__NODE__NODE_TYPE_CAST: node = node->type_cast->arg; break;
        case PG_QUERY__NODE__NODE_FUNC_CALL:
            node = node->func_call->n_args > 0 ? node->func_call->args[0] : nullptr;
            break;
        default: return nullptr;
        }
    }
    return nullptr;
}

std::uint16_t parameter_in(const tree_node* node) {
    while (node != nullptr) {
        switch (node->node_case) {
        case PG_QUERY__NODE__NODE_PARAM_REF:
            return static_cast<std::uint16_t>(node->param_ref->number);
        case PG_QUERY__NODE__NODE_TYPE_CAST: node = node->type_cast->arg; break;
        case PG_QUERY__NODE__NODE_FUNC_CALL:
            node = node->func_call->n_args > 0 ? node->func_call->args[0] : nullptr;
            break;
        default: return 0;
        }
    }
    return 0;
}

bool is_star(const tree_node* value) noexcept {
    if (value == nullptr || value->node_case != PG_QUERY__NODE__NODE_COLUMN_REF ||
        value->column_ref->n_fields == 0) {
        return false;
    }
    const auto* last = value->column_ref->fields[value->column_ref->n_fields - 1];
    return last->node_case == PG_QUERY__NODE__NODE_A_STAR;
}

// ORDER BY distance, where the list names an expression so, or ORDER BY 2.
const tree_node* resolve_output_name(const tree_node* key, const PgQuery__SelectStmt& query) {
    if (key->node_case == PG_QUERY__NODE__NODE_COLUMN_REF && key->column_ref->n_fields == 1) {
        const auto name = text_of(key->column_ref->fields[0]);
        for (std::size_t i = 0; i < query.n_target_list; ++i) {
            const auto& target = *query.target_list[i]->res_target;
            if (!name.empty() && view(target.name) == name) {
                return target.val;
            }
        }
    }
    if (key->node_case == PG_QUERY__NODE__NODE_A_CONST &&
        key->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL) {
        const auto position = static_cast<std::size_t>(std::max(key->a_const->ival->ival, 0));
        for (std::size_t i = 0; i < position && i < query.n_target_list; ++i) {
            const auto* value = query.target_list[i]->res_target->val;
            if (is_star(value)) {
                break;  // stands for a number of columns that only the catalog knows
            }
            if (i + 1 == position) {
                return value;
            }
        }
    }
    return key;
}

const PgQuery__AExpr* distance_key(const PgQuery__SelectStmt& query) {
    if (query.n_sort_clause == 0 ||
        query.sort_clause[0]->node_case != PG_QUERY__NODE__NODE_SORT_BY) {
        return nullptr;
    }
    const auto& first = *query.sort_clause[0]->sort_by;
    const bool descending = first.sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC ||
                            first.sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_USING;
    const auto* key =
        first.node == nullptr || descending ? nullptr : resolve_output_name(first.node, query);
    if (key == nullptr || key->node_case != PG_QUERY__NODE__NODE_A_EXPR ||
        key->a_expr->kind != PG_QUERY__A__EXPR__KIND__AEXPR_OP || key->a_expr->n_name == 0) {
        return nullptr;
    }
    const auto name = text_of(key->a_expr->name[key->a_expr->n_name - 1]);
    const bool known = std::find(distance_operators.begin(), distance_operators.end(), name) !=
                       distance_operators.end();
    return known ? key->a_expr : nullptr;
}

std::string_view alias_of(const PgQuery__Alias* alias, std::string_view otherwise) {
    return alias != nullptr ? view(alias->aliasname) : otherwise;
}

relation_name
table_of(const PgQuery__SelectStmt& query, std::string_view qualifier, const with_scope& scope);

// The table that an item of FROM stands for under the qualifier; any if the qualifier is empty.
std::optional<relation_name>
table_in(const tree_node* item, std::string_view qualifier, const with_scope& scope) {
    if (item->node_case == PG_QUERY__NODE__NODE_JOIN_EXPR) {
        if (qualifier.empty()) {
            return std::nullopt;  // the catalog would have to tell which side has the column
        }
        const auto left = table_in(item->join_expr->larg, qualifier, scope);
        return left ? left : table_in(item->join_expr->rarg, qualifier, scope);
    }
    std::string_view name;
    if (item->node_case == PG_QUERY__NODE__NODE_RANGE_VAR) {
        name = alias_of(item->range_var->alias, view(item->range_var->relname));
    } else if (item->node_case == PG_QUERY__NODE__NODE_RANGE_SUBSELECT) {
        name = alias_of(item->range_subselect->alias, {});
    }
    if (!qualifier.empty() && name != qualifier) {
        return std::nullopt;
    }
    if (const auto inner = query_behind(item, scope); inner.query != nullptr) {
        return table_of(*inner.query, {}, scope_of(*inner.query, &inner.around));
    }
    if (item->node_case != PG_QUERY__NODE__NODE_RANGE_VAR) {
        return std::nullopt;
    }
    return relation_name{
        std::string(view(item->range_var->schemaname)),
        std::string(view(item->range_var->relname))};
}

relation_name
table_of(const PgQuery__SelectStmt& query, std::string_view qualifier, const with_scope& scope) {
    if (qualifier.empty() && query.n_from_clause != 1) {
        return {};
    }
    for (std::size_t i = 0; i < query.n_from_clause; ++i) {
        if (auto table = table_in(query.from_clause[i], qualifier, scope)) {
            return *table;
        }
    }
    return {};
}

std::int64_t constant_limit(const tree_node* limit) noexcept {
    const bool integer = limit != nullptr && limit->node_case == PG_QUERY__NODE__NODE_A_CONST &&
                         limit->a_const->isnull == 0 &&
                         limit->a_const->val_case == PG_QUERY__A__CONST__VAL_IVAL;
    return integer ? limit->a_const->ival->ival : -1;
}

bool describe(const PgQuery__SelectStmt& query, const with_scope& scope, vector_search& out) {
    const auto* distance = distance_key(query);
    if (distance == nullptr) {
        return false;
    }
    const auto* column = column_in(distance->lexpr);
    const auto* vector = distance->rexpr;
    if (column == nullptr) {
        column = column_in(distance->rexpr);
        vector = distance->lexpr;
    }
    if (column == nullptr || column->n_fields == 0) {
        return false;
    }
    out.column = text_of(column->fields[column->n_fields - 1]);
    out.operator_name = text_of(distance->name[distance->n_name - 1]);
    out.table = table_of(
        query,
        column->n_fields > 1 ? text_of(column->fields[column->n_fields - 2]) : "",
        scope
    );
    out.k = constant_limit(query.limit_count);
    out.parameter = parameter_in(vector);
    return true;
}

bool find(const PgQuery__SelectStmt& query, const with_scope* outer, vector_search& out) {
    const auto scope = scope_of(query, outer);
    if (describe(query, scope, out)) {
        return true;
    }
    if (query.n_from_clause != 1) {
        return false;
    }
    const auto inner = query_behind(query.from_clause[0], scope);
    return inner.query != nullptr && find(*inner.query, &inner.around, out);
}

}  // namespace

bool find_vector_search(const PgQuery__SelectStmt& query, vector_search& out) {
    return find(query, nullptr, out);
}

}  // namespace weir::routing
