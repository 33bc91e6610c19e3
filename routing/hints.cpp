#include "routing/hints.hpp"

#include "config/units.hpp"
#include "routing/lexer.hpp"

namespace weir::routing {

namespace {

hint_problem read_consistency(std::string_view value, hints& out) {
    using config::consistency_level;
    constexpr std::string_view bounded = "bounded:";
    if (same_word(value, "strong")) {
        out.consistency = config::consistency{consistency_level::strong};
    } else if (same_word(value, "eventual")) {
        out.consistency = config::consistency{consistency_level::eventual};
    } else if (same_word(value.substr(0, bounded.size()), bounded)) {
        const auto bound = config::parse_duration(value.substr(bounded.size()));
        if (!bound || bound.value.count() == 0) {
            return hint_problem::bad_duration;
        }
        out.consistency = config::consistency{consistency_level::bounded, bound.value};
    } else if (same_word(value, "latest") || same_word(value, "session")) {
        return hint_problem::not_available;
    } else {
        return hint_problem::unknown_value;
    }
    return hint_problem::none;
}

hint_problem read_target(std::string_view value, hints& out) {
    if (same_word(value, "primary")) {
        out.target = config::targets::primary;
    } else if (same_word(value, "replicas") || same_word(value, "replica")) {
        out.target = config::targets::replicas;
    } else if (same_word(value, "replicas_then_primary")) {
        out.target = config::targets::replicas_then_primary;
    } else {
        return hint_problem::unknown_value;
    }
    return hint_problem::none;
}

hint_problem read_word(std::string_view word, hints& out) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) {
        return hint_problem::no_value;
    }
    return read_hint(word.substr(0, equals), word.substr(equals + 1), out);
}

}  // namespace

hint_problem read_hint(std::string_view key, std::string_view value, hints& out) noexcept {
    if (same_word(key, "consistency")) {
        return read_consistency(value, out);
    }
    if (same_word(key, "target")) {
        return read_target(value, out);
    }
    if (same_word(key, "token")) {
        out.token = value;
        return value.empty() ? hint_problem::no_value : hint_problem::none;
    }
    return hint_problem::unknown_key;
}

hints parse_hints(std::string_view body) {
    constexpr std::string_view separators = " \t\n\r\f\v,";
    hints result;
    while (!body.empty()) {
        const auto length = body.find_first_of(separators);
        const auto word = body.substr(0, length);
        body.remove_prefix(length == std::string_view::npos ? body.size() : length + 1);
        if (word.empty()) {
            continue;
        }
        const auto problem = read_word(word, result);
        if (problem != hint_problem::none && result.problem == hint_problem::none) {
            result.problem = problem;
            result.culprit = word;
        }
    }
    return result;
}

std::string_view describe(hint_problem problem) noexcept {
    switch (problem) {
    case hint_problem::none: return "no problem";
    case hint_problem::no_value: return "expected key=value";
    case hint_problem::unknown_key: return "unknown key, expected consistency, target or token";
    case hint_problem::unknown_value: return "unknown value";
    case hint_problem::bad_duration: return "expected bounded:<duration> such as bounded:2s";
    case hint_problem::not_available: return "not available in this version";
    }
    return "unknown problem";
}

}  // namespace weir::routing
