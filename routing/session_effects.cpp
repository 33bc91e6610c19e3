#include "routing/session_effects.hpp"

#include "routing/lexer.hpp"
#include "routing/own_setting.hpp"
#include "routing/setting_text.hpp"

#include <algorithm>
#include <optional>

namespace weir::routing {

namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), fold);
    return result;
}

// These live as long as the transaction, however they are set.
bool is_transaction_setting(std::string_view name) noexcept {
    return name == "transaction_isolation" || name == "transaction_read_only" ||
           name == "transaction_deferrable";
}

std::optional<std::string> render_constant(const PgQuery__AConst& constant) {
    switch (constant.val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL: return std::to_string(constant.ival->ival);
    case PG_QUERY__A__CONST__VAL_FVAL: return std::string(view(constant.fval->fval));
    case PG_QUERY__A__CONST__VAL_SVAL: return quote_literal(view(constant.sval->sval));
    default: return std::nullopt;
    }
}

// SET TIME ZONE INTERVAL '-08:00' HOUR TO MINUTE: as a string the fields are lost, which matters
// unless the value says by a colon what it is.
std::optional<std::string> render_interval(const PgQuery__TypeCast& cast) {
    std::string_view text;
    if (!string_constant(cast.arg, text) || text.find(':') == std::string_view::npos) {
        return std::nullopt;
    }
    return quote_literal("INTERVAL " + quote_literal(text));
}

std::optional<std::string> render_value(const tree_node* node) {
    if (node->node_case == PG_QUERY__NODE__NODE_A_CONST) {
        return render_constant(*node->a_const);
    }
    if (node->node_case == PG_QUERY__NODE__NODE_TYPE_CAST) {
        return render_interval(*node->type_cast);
    }
    return std::nullopt;
}

std::optional<std::string> render_values(const PgQuery__VariableSetStmt& statement) {
    std::string values;
    for (std::size_t i = 0; i < statement.n_args; ++i) {
        const auto value = render_value(statement.args[i]);
        if (!value) {
            return std::nullopt;
        }
        values += (i == 0 ? "" : ", ") + *value;
    }
    return values.empty() ? std::nullopt : std::optional(values);
}

// A setting given to a session also ends its role, when it is the user: SET SESSION AUTHORIZATION.
void append(
    std::vector<setting_effect>& to,
    setting_action action,
    std::string name,
    std::string value
) {
    const bool ends_role = name == "session_authorization";
    to.push_back({action, std::move(name), std::move(value), 0});
    if (ends_role) {
        const bool local = action == setting_action::set_local;
        to.push_back({local ? setting_action::set_local : setting_action::set, "role", "'none'", 0}
        );
    }
}

std::string constant_text(const tree_node* node) {
    std::string_view text;
    if (string_constant(node, text)) {
        return lower(text);
    }
    if (node != nullptr && node->node_case == PG_QUERY__NODE__NODE_A_CONST) {
        return render_constant(*node->a_const).value_or("");
    }
    return {};
}

// PostgreSQL's reading of a boolean setting: any beginning of true, false, yes, no; on and off; 1
// and 0.
std::optional<bool> boolean(std::string_view text) noexcept {
    const auto begins = [text](std::string_view word, std::size_t at_least) {
        return text.size() >= at_least && word.substr(0, text.size()) == text;
    };
    if (begins("true", 1) || begins("yes", 1) || text == "on" || text == "1") {
        return true;
    }
    if (begins("false", 1) || begins("no", 1) || begins("off", 2) || text == "0") {
        return false;
    }
    return std::nullopt;
}

isolation_level isolation(std::string_view text) noexcept {
    if (text == "serializable") {
        return isolation_level::serializable;
    }
    if (text == "repeatable read") {
        return isolation_level::repeatable_read;
    }
    if (text == "read uncommitted") {
        return isolation_level::read_uncommitted;
    }
    return text == "read committed" ? isolation_level::read_committed : isolation_level::unset;
}

void apply_transaction_option(
    std::string_view name,
    const tree_node* value,
    transaction_mode& out
) {
    const auto text = constant_text(value);
    if (name == "transaction_isolation") {
        out.isolation = isolation(text);
    } else if (name == "transaction_read_only") {
        out.read_only = boolean(text);
    } else if (name == "transaction_deferrable") {
        out.deferrable = boolean(text);
    }
}

void apply_characteristics(const PgQuery__VariableSetStmt& statement, traits& out) {
    for (std::size_t i = 0; i < statement.n_args; ++i) {
        if (statement.args[i]->node_case == PG_QUERY__NODE__NODE_DEF_ELEM) {
            const auto& option = *statement.args[i]->def_elem;
            append(
                out.settings,
                setting_action::set,
                "default_" + std::string(view(option.defname)),
                quote_literal(constant_text(option.arg))
            );
        }
    }
}

set_outcome apply_multi(const PgQuery__VariableSetStmt& statement, traits& out) {
    const auto name = view(statement.name);
    if (name == "SESSION CHARACTERISTICS") {
        apply_characteristics(statement, out);
        return {};
    }
    if (name == "TRANSACTION") {
        apply_transaction_options(statement.args, statement.n_args, out.mode);
        return {statement_kind::set_transaction, primary_reason::transaction};
    }
    out.mode.imports_snapshot = true;
    return {statement_kind::set_transaction, primary_reason::node_dependent};
}

// With the session's own schema first, CREATE TABLE makes temporary tables.
pin_reason pin_by_value(std::string_view name, std::string_view value) noexcept {
    const bool temporary = name == "search_path" && value.substr(0, 8) == "'pg_temp";
    return temporary ? pin_reason::temporary_table : pin_reason::none;
}

set_outcome apply_value(const PgQuery__VariableSetStmt& statement, std::string name, traits& out) {
    const auto value = render_values(statement);
    if (!value) {
        return {.pin = pin_reason::setting_unknown};
    }
    const auto pin = pin_by_value(name, *value);
    const auto action = statement.is_local != 0 ? setting_action::set_local : setting_action::set;
    append(out.settings, action, std::move(name), *value);
    return {.pin = pin};
}

// The values as plain text. Null for what SET would have to compute.
std::optional<std::string> plain_values(const PgQuery__VariableSetStmt& statement) {
    std::string values;
    for (std::size_t i = 0; i < statement.n_args; ++i) {
        const auto* node = statement.args[i];
        std::string_view text;
        std::optional<std::string> value;
        if (string_constant(node, text)) {
            value = std::string(text);
        } else if (node->node_case == PG_QUERY__NODE__NODE_A_CONST) {
            value = render_constant(*node->a_const);
        }
        if (!value) {
            return std::nullopt;
        }
        values += (i == 0 ? "" : ", ") + *value;
    }
    return values;
}

set_outcome apply_own(const PgQuery__VariableSetStmt& statement, std::string name, traits& out) {
    const bool resets = statement.kind == PG_QUERY__VARIABLE_SET_KIND__VAR_RESET;
    auto& own = out.own;
    own.local = statement.is_local != 0;
    own.name = std::move(name);
    own.action = own_action::misplaced;
    if (resets) {
        own.action = own_action::reset;
    } else if (statement.kind == PG_QUERY__VARIABLE_SET_KIND__VAR_SET_DEFAULT) {
        own.action = own_action::set_default;
    } else if (statement.kind == PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE) {
        if (auto value = plain_values(statement)) {
            own.action = own_action::set;
            own.value = std::move(*value);
        }
    }
    return {.kind = resets ? statement_kind::reset : statement_kind::set};
}

// A cast to text changes nothing in an argument of set_config.
const tree_node* without_text_cast(const tree_node* node) noexcept {
    if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_TYPE_CAST ||
        node->type_cast->type_name == nullptr) {
        return node;
    }
    const auto& type = *node->type_cast->type_name;
    const bool text = type.n_names > 0 && type.n_array_bounds == 0 &&
                      text_of(type.names[type.n_names - 1]) == "text";
    return text ? node->type_cast->arg : node;
}

std::optional<bool> boolean_constant(const tree_node* node) noexcept {
    if (node != nullptr && node->node_case == PG_QUERY__NODE__NODE_TYPE_CAST) {
        node = node->type_cast->arg;  // the parser writes TRUE as a cast of a constant
    }
    if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_A_CONST ||
        node->a_const->val_case != PG_QUERY__A__CONST__VAL_BOOLVAL) {
        return std::nullopt;
    }
    return node->a_const->boolval->boolval != 0;
}

bool is_set_config(const PgQuery__FuncCall& call) {
    const auto name = qualified_name(call.funcname, call.n_funcname);
    return name.name == "set_config" && (name.schema.empty() || name.schema == "pg_catalog") &&
           call.n_args == 3;
}

// Appends what one call does; false if it cannot be told.
bool apply_call(const PgQuery__FuncCall& call, std::vector<setting_effect>& out) {
    std::string_view name_text;
    const auto local = boolean_constant(call.args[2]);
    if (!local || !string_constant(without_text_cast(call.args[0]), name_text)) {
        return false;
    }
    auto name = lower(name_text);
    const bool ends_with_transaction = *local || is_transaction_setting(name);
    const auto action = ends_with_transaction ? setting_action::set_local : setting_action::set;
    const auto* value = without_text_cast(call.args[1]);
    std::string_view text;
    if (string_constant(value, text)) {
        auto rendered = setting_value(name, text);
        append(out, action, std::move(name), std::move(rendered));
        return true;
    }
    if (value == nullptr) {
        return false;
    }
    if (value->node_case == PG_QUERY__NODE__NODE_PARAM_REF && value->param_ref->number > 0) {
        const auto at = out.size();
        append(out, action, std::move(name), "");
        out[at].parameter = static_cast<std::uint16_t>(value->param_ref->number);
        return true;
    }
    if (value->node_case == PG_QUERY__NODE__NODE_A_CONST && value->a_const->isnull != 0) {
        append(
            out,
            ends_with_transaction ? action : setting_action::reset,
            std::move(name),
            ends_with_transaction ? "DEFAULT" : ""
        );
        return true;
    }
    return false;
}

bool is_plain(const PgQuery__SelectStmt& s) noexcept {
    return s.n_from_clause == 0 && s.where_clause == nullptr && s.n_group_clause == 0 &&
           s.having_clause == nullptr && s.limit_count == nullptr && s.limit_offset == nullptr &&
           s.n_values_lists == 0 && s.with_clause == nullptr && s.larg == nullptr &&
           s.rarg == nullptr;
}

}  // namespace

void apply_transaction_options(
    tree_node* const* options,
    std::size_t count,
    transaction_mode& out
) {
    for (std::size_t i = 0; i < count; ++i) {
        if (options[i]->node_case == PG_QUERY__NODE__NODE_DEF_ELEM) {
            apply_transaction_option(
                view(options[i]->def_elem->defname),
                options[i]->def_elem->arg,
                out
            );
        }
    }
}

set_outcome apply_set(const PgQuery__VariableSetStmt& statement, traits& out) {
    if (statement.kind == PG_QUERY__VARIABLE_SET_KIND__VAR_SET_MULTI) {
        return apply_multi(statement, out);
    }
    const bool resets = statement.kind == PG_QUERY__VARIABLE_SET_KIND__VAR_RESET ||
                        statement.kind == PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL;
    const bool local = statement.is_local != 0;
    auto name = lower(view(statement.name));
    if (is_transaction_setting(name)) {
        if (statement.n_args > 0) {
            apply_transaction_option(name, statement.args[0], out.mode);
        }
        return {statement_kind::set_transaction, primary_reason::transaction};
    }
    if (is_own_setting(name)) {
        return apply_own(statement, std::move(name), out);
    }
    set_outcome outcome{.kind = resets ? statement_kind::reset : statement_kind::set};
    switch (statement.kind) {
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE:
        return apply_value(statement, std::move(name), out);
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_DEFAULT:
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET:
        append(
            out.settings,
            local ? setting_action::set_local : setting_action::reset,
            std::move(name),
            local ? "DEFAULT" : ""
        );
        break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL:
        append(out.settings, setting_action::reset_all, "", "");
        break;
    default: outcome.pin = local ? pin_reason::none : pin_reason::setting_unknown; break;
    }
    return outcome;
}

void note_own_show(std::string_view name, traits& out) {
    auto plain = lower(name);
    if (is_own_setting(plain)) {
        out.own.action = own_action::show;
        out.own.name = std::move(plain);
    }
}

select_effects effects_of(const PgQuery__SelectStmt& statement) {
    select_effects result;
    if (!is_plain(statement)) {
        return result;
    }
    for (std::size_t i = 0; i < statement.n_target_list; ++i) {
        const auto* target = statement.target_list[i];
        if (target->node_case != PG_QUERY__NODE__NODE_RES_TARGET ||
            target->res_target->val == nullptr ||
            target->res_target->val->node_case != PG_QUERY__NODE__NODE_FUNC_CALL) {
            continue;
        }
        const auto& call = *target->res_target->val->func_call;
        if (is_set_config(call) && apply_call(call, result.settings)) {
            result.understood.push_back(&call);
        }
    }
    result.from_literals = !result.settings.empty();
    return result;
}

bool is_local_set_config(const PgQuery__FuncCall& call) noexcept {
    return call.n_args == 3 && boolean_constant(call.args[2]).value_or(false);
}

}  // namespace weir::routing
