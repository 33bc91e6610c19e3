// Does a statement that its syntax would let onto a replica call for the primary all the same, by
// what the catalog says about the names in it? What is not proven harmless goes to the primary.
#pragma once

#include "routing/catalog.hpp"
#include "routing/shape.hpp"
#include "routing/traits.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

enum class judgement_reason : std::uint8_t {
    safe,
    no_catalog,  // not read yet
    unknown_function,
    volatile_function,
    user_function,   // not listed as safe
    node_dependent,  // a function that answers differently on every server
    unknown_relation,
    foreign_table,
    not_replicated,  // unlogged
    sequence,
    body,  // the query of a view, a policy or a check does what only the primary may
    unknown_operator,
    unsafe_operator,  // bound to a function that is not safe
    unknown_type,
    custom_type,
    unsafe_cast,
    too_deep,  // views upon views without end
};

[[nodiscard]] std::string_view name_of(judgement_reason reason);

struct judgement {
    judgement_reason reason = judgement_reason::safe;
    std::string culprit;  // the name that decided, empty if safe

    [[nodiscard]] bool safe() const noexcept { return reason == judgement_reason::safe; }

    friend bool operator==(const judgement&, const judgement&) = default;
};

// The functions of users that may run on a replica, from the configuration: globs, "schema.name" or
// "name".
class function_list {
public:
    function_list() = default;

    explicit function_list(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

    [[nodiscard]] bool contains(std::string_view schema, std::string_view name) const noexcept;

private:
    std::vector<std::string> patterns_;
};

// `known` may be null: no catalog yet. Pure, any thread; microseconds, so callers keep the result
// by shape.
[[nodiscard]] judgement
judge(const traits& statement, const catalog* known, const function_list& safe_functions);

// Judgements of one database by shape, for one worker. Fixed size: shapes that meet in a slot
// replace each other.
class judgement_cache {
public:
    explicit judgement_cache(std::size_t slots = 2048);

    // Judges at most once per shape and catalog. The reference holds until the next call. `known`
    // (may be null) is compared by pointer; the snapshot is kept alive until another one is passed.
    [[nodiscard]] const judgement& get(
        const shape& key,
        const traits& statement,
        const catalog_ptr& known,
        const function_list& safe_functions
    );
    void clear();

private:
    struct slot {
        shape key;
        bool filled = false;
        judgement value;
    };

    std::vector<slot> slots_;
    catalog_ptr known_;
};

}  // namespace weir::routing
