#include "routing/own_setting.hpp"

#include "routing/lexer.hpp"

namespace weir::routing {

namespace {

// "replicas_then_primary", and a duration with room to spare. What is kept of a value is bounded.
constexpr std::size_t longest_value = 64;

bool names_replicas(const route_override& asked) noexcept {
    return asked.targets && *asked.targets != config::targets::primary;
}

bool is_strong(const route_override& asked) noexcept {
    return asked.consistency && asked.consistency->level == config::consistency_level::strong;
}

}  // namespace

bool mentions_own_setting(std::string_view sql) noexcept {
    for (auto dot = sql.find('.'); dot != std::string_view::npos; dot = sql.find('.', dot + 1)) {
        constexpr auto size = own_prefix.size() - 1;
        if (dot >= size && same_word(sql.substr(dot - size, size), own_prefix.substr(0, size))) {
            return true;
        }
    }
    return false;
}

hint_problem read_own_setting(std::string_view name, std::string_view value, route_override& out) {
    if (name == own_token) {
        return hint_problem::not_available;
    }
    const bool known = name == own_consistency || name == own_target;
    if (!known) {
        return hint_problem::unknown_key;
    }
    if (value.empty()) {
        return hint_problem::none;
    }
    if (value.size() > longest_value) {
        return hint_problem::unknown_value;
    }
    hints read;
    const auto problem = read_hint(name.substr(own_prefix.size()), value, read);
    if (problem != hint_problem::none) {
        return problem;
    }
    if (read.consistency) {
        out.consistency = read.consistency;
    }
    if (read.target) {
        out.targets = read.target;
    }
    return hint_problem::none;
}

route_override override_of(const hints& from) {
    route_override asked{from.consistency, from.target};
    if (!from.token.empty()) {
        asked.targets = config::targets::primary;
    }
    return asked;
}

route_override merged(const route_override& hint, const route_override& settings) {
    route_override both = hint;
    // A setting that leaves the primary alone must not undo the replicas of the hint.
    if (!both.consistency && !(names_replicas(hint) && is_strong(settings))) {
        both.consistency = settings.consistency;
    }
    if (!both.targets) {
        both.targets = settings.targets;
        both.standing = true;
    }
    return both;
}

}  // namespace weir::routing
