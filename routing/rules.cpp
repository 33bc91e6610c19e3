#include "routing/rules.hpp"

#include "routing/glob.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace weir::routing {

namespace {

constexpr config::consistency strong{config::consistency_level::strong, {}};
constexpr config::consistency by_lag_max{config::consistency_level::bounded, {}};

// A pattern left out matches everything.
bool matches(std::string_view pattern, std::string_view text) noexcept {
    return pattern.empty() || glob_match(pattern, text);
}

bool matches_relation(
    std::string_view pattern,
    const relation_name& relation,
    std::string_view schema
) noexcept {
    return glob_match_name(
        pattern,
        relation.schema.empty() ? schema : std::string_view(relation.schema),
        relation.name
    );
}

bool matches_function(
    std::string_view pattern,
    const function_name& function,
    std::string_view schema
) noexcept {
    return matches_relation(pattern, function, schema) ||
           (function.schema.empty() && glob_match_name(pattern, "pg_catalog", function.name));
}

bool matches_tables(
    const std::vector<std::string>& patterns,
    const traits& statement,
    std::string_view schema
) noexcept {
    const auto& named = statement.relations;
    const auto is_listed = [&](const relation_name& relation) {
        return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
            return matches_relation(pattern, relation, schema);
        });
    };
    return patterns.empty() ||
           (!named.empty() && std::all_of(named.begin(), named.end(), is_listed));
}

bool matches_functions(
    const std::vector<std::string>& patterns,
    const traits& statement,
    std::string_view schema
) noexcept {
    const auto is_listed = [&](const function_name& function) {
        return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
            return matches_function(pattern, function, schema);
        });
    };
    return patterns.empty() ||
           std::any_of(statement.functions.begin(), statement.functions.end(), is_listed);
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
    std::uint64_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto [stop, ec] = std::from_chars(text.data(), end, value, 16);
    return ec == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_shape(std::string_view text) {
    constexpr std::size_t half = 16;
    if (text.size() != 2 * half) {
        return std::nullopt;
    }
    const auto hi = parse_hex(text.substr(0, half));
    const auto lo = parse_hex(text.substr(half));
    return hi && lo ? std::optional(std::pair(*hi, *lo)) : std::nullopt;
}

// Without a level of its own, a rule that names replicas means reads bounded by lag.max.
policy policy_of(const config::rule& rule, bool vector, setting_list_ptr settings) {
    const bool names_replicas = rule.targets && *rule.targets != config::targets::primary;
    policy result;
    result.name = rule.name;
    result.consistency = rule.consistency.value_or(vector || names_replicas ? by_lag_max : strong);
    result.targets = rule.targets.value_or(config::targets::replicas_then_primary);
    result.settings = std::move(settings);
    return result;
}

}  // namespace

rule_set::rule_set(const config::routing& config) {
    std::map<setting_list, setting_list_ptr> interned;
    const auto intern = [&](const setting_list& settings) {
        auto& known = interned[settings];
        if (!known) {
            known = std::make_shared<const setting_list>(settings);
        }
        return known;
    };
    for (const config::rule& rule : config.rules) {
        const auto settings = intern(rule.settings);
        compiled made;
        made.match = rule.match;
        made.shape = parse_shape(rule.match.shape);
        made.never = !rule.match.shape.empty() && !made.shape;
        made.for_vector = policy_of(rule, true, settings);
        made.for_others = policy_of(rule, false, settings);
        rules_.push_back(std::move(made));
    }
    const auto nothing = intern({});
    default_vector_ = {"vector", by_lag_max, config::targets::replicas_then_primary, nothing};
    default_ = {"default", strong, config::targets::replicas_then_primary, nothing};
}

bool rule_set::applies(
    const compiled& rule,
    const traits& statement,
    const shape& key,
    bool read,
    const session_facts& session
) noexcept {
    const config::rule_match& match = rule.match;
    if (rule.never || (match.vector && *match.vector != statement.is_vector_search) ||
        (!match.kind.empty() && (match.kind == "read") != read)) {
        return false;
    }
    if (rule.shape && (rule.shape->first != key.hi || rule.shape->second != key.lo)) {
        return false;
    }
    return matches(match.database, session.database) && matches(match.user, session.user) &&
           matches(match.application_name, session.application_name) &&
           matches_tables(match.tables, statement, session.schema) &&
           matches_functions(match.functions, statement, session.schema);
}

const policy& rule_set::match(
    const traits& statement,
    const shape& key,
    bool read,
    const session_facts& session
) const noexcept {
    for (const compiled& rule : rules_) {
        if (applies(rule, statement, key, read, session)) {
            return statement.is_vector_search ? rule.for_vector : rule.for_others;
        }
    }
    return statement.is_vector_search ? default_vector_ : default_;
}

}  // namespace weir::routing
