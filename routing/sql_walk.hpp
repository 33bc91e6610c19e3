// Walks a statement's tree and notes what it names and what in it needs the primary. Internal to
// routing.
#pragma once

#include "routing/sql_tree.hpp"
#include "routing/traits.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

// Every node at any depth is seen: nodes that need no special care are walked by their description,
// so that syntax of later PostgreSQL versions hides nothing. Adds names to the traits given; keeps
// its verdict to itself.
class tree_walk {
public:
    explicit tree_walk(traits& out) : out_(out) {}

    // Calls of set_config whose effects are known: they do not make the session's settings unknown.
    void expect(std::vector<const PgQuery__FuncCall*> calls) { expected_ = std::move(calls); }

    // The statement itself: INSERT, UPDATE, DELETE and MERGE are not counted as modifying here,
    // only below.
    void statement(const tree_message& message);

    // Anything below.
    void walk(const tree_message* message);

    // The weightiest reason seen, none if the syntax lets a replica answer.
    [[nodiscard]] primary_reason reason() const noexcept { return reason_; }

    [[nodiscard]] pin_reason pin() const noexcept { return pin_; }

    // Something in a schema for temporary objects is named or made.
    [[nodiscard]] bool temporary() const noexcept { return temporary_; }

private:
    void raise(primary_reason reason) noexcept;
    void pin(pin_reason reason) noexcept;
    void walk_children(const tree_message& message);
    void with_scope(const tree_message& message);
    void enter(const PgQuery__WithClause& clause);
    [[nodiscard]] bool is_cte(std::string_view name) const noexcept;

    [[nodiscard]] bool on_statement(const tree_message& message);
    [[nodiscard]] bool on_name(const tree_message& message);
    void on_relation(const PgQuery__RangeVar& relation, bool may_be_cte);
    void on_call(const PgQuery__FuncCall& call);
    void on_setting_call(const PgQuery__FuncCall& call, std::string_view function);
    void on_expression(const PgQuery__AExpr& expression);
    void on_operator(tree_node* const* name, std::size_t count);
    void on_type(const PgQuery__TypeName& type);
    void on_sample(const PgQuery__RangeTableSample& sample);

    traits& out_;
    std::vector<const PgQuery__FuncCall*> expected_;
    std::vector<std::string_view> ctes_;  // names of WITH queries visible here, outermost first
    primary_reason reason_ = primary_reason::none;
    pin_reason pin_ = pin_reason::none;
    bool temporary_ = false;
};

// Which of two reasons says more about a statement that has both.
[[nodiscard]] primary_reason weightier(primary_reason a, primary_reason b) noexcept;
[[nodiscard]] pin_reason weightier(pin_reason a, pin_reason b) noexcept;

}  // namespace weir::routing
