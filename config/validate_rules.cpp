#include "config/units.hpp"
#include "config/validate.hpp"

#include <algorithm>

namespace weir::config {

namespace {

std::string rule_path(std::size_t index) {
    return "routing.rules[" + std::to_string(index + 1) + "]";
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// One part of a setting's name, as PostgreSQL takes it: a letter, then letters, digits and $.
bool is_setting_part(std::string_view part) {
    return !part.empty() && is_letter(part.front()) &&
           std::all_of(part.begin(), part.end(), [](char c) {
               return is_letter(c) || (c >= '0' && c <= '9') || c == '$';
           });
}

bool is_setting_name(std::string_view name) {
    while (true) {
        const auto dot = name.find('.');
        if (!is_setting_part(name.substr(0, dot))) {
            return false;
        }
        if (dot == std::string_view::npos) {
            return true;
        }
        name.remove_prefix(dot + 1);
    }
}

bool is_shape(const std::string& text) {
    return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Whether every statement that fits `later` fits `earlier` too. Patterns are compared as texts, so
// this misses some cases and never claims a wrong one.
bool covers(const rule_match& earlier, const rule_match& later) {
    const auto text = [](const std::string& a, const std::string& b) {
        return a.empty() || a == "*" || a == b;
    };
    const auto list = [](const std::vector<std::string>& a, const std::vector<std::string>& b) {
        return a.empty() || a == b;
    };
    return (!earlier.vector || earlier.vector == later.vector) && text(earlier.kind, later.kind) &&
           list(earlier.tables, later.tables) && list(earlier.functions, later.functions) &&
           text(earlier.database, later.database) && text(earlier.user, later.user) &&
           text(earlier.application_name, later.application_name) &&
           text(earlier.shape, later.shape);
}

void check_reachable(const std::vector<rule>& rules, std::size_t index, diagnostics& out) {
    const auto path = rule_path(index);
    for (std::size_t i = 0; i < index; ++i) {
        const auto earlier = rule_path(i);
        if (!out.damaged(earlier + ".match") && covers(rules[i].match, rules[index].match)) {
            out.report(
                path,
                concat(
                    {path,
                     " '",
                     rules[index].name,
                     "' can never match, because ",
                     earlier,
                     " '",
                     rules[i].name,
                     "' takes all of its statements; expected the narrower rule first"}
                )
            );
            return;
        }
    }
}

void check_match(const std::string& path, const rule_match& match, diagnostics& out) {
    if (match.kind == "write" && match.vector == true) {
        out.report(
            path,
            path +
                " can never match, because a vector search is a read; expected kind: read, or no "
                "vector"
        );
    }
    if (!match.shape.empty() && !is_shape(match.shape)) {
        const auto shape = path + ".shape";
        out.report(
            shape,
            shape + " is '" + match.shape +
                "'; expected 32 hex digits in lower case, as SHOW ROUTE prints them"
        );
    }
}

// Whether the pattern (* any text, ? any character) fits the whole text.
bool fits(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) {
        return text.empty();
    }
    if (pattern.front() == '*') {
        return fits(pattern.substr(1), text) || (!text.empty() && fits(pattern, text.substr(1)));
    }
    const auto same = !text.empty() && (pattern.front() == '?' || pattern.front() == text.front());
    return same && fits(pattern.substr(1), text.substr(1));
}

// A pattern for databases must fit one of those that clients may name.
void check_database(
    const std::string& path,
    const rule_match& match,
    const config& c,
    diagnostics& out
) {
    if (match.database.empty() || c.databases.empty() || out.damaged("databases")) {
        return;
    }
    const auto fitting =
        std::any_of(c.databases.begin(), c.databases.end(), [&](const database& d) {
            return d.name == "*" || fits(match.database, d.name);
        });
    if (!fitting) {
        out.report(
            path + ".database",
            path + ".database '" + match.database +
                "' can never match, because no database has such a name; expected a name or "
                "pattern of one under databases"
        );
    }
}

void check_bound(
    const std::string& path,
    milliseconds bound,
    const cluster& one,
    diagnostics& out
) {
    const auto interval = "clusters." + one.name + ".monitor.interval";
    const auto least = 2 * one.monitor.interval;
    if (bound < least && !out.broken(interval)) {
        out.report(
            path,
            path + " is bounded: " + print_duration(bound) + "; expected at least " +
                print_duration(least) + ", twice " + interval
        );
    }
}

void check_consistency(
    const std::string& path,
    const rule& r,
    const std::vector<cluster>& clusters,
    diagnostics& out
) {
    const auto own = path + ".consistency";
    if (!r.consistency || out.broken(own)) {
        return;
    }
    const auto strong = r.consistency->level == consistency_level::strong;
    if (r.consistency->level == consistency_level::bounded) {
        for (const auto& one : clusters) {
            check_bound(own, r.consistency->bound, one, out);
        }
    }
    if (strong && r.targets == targets::replicas && !out.broken(path + ".targets")) {
        out.report(
            own,
            own +
                " strong is served by the primary only, and targets is replicas; expected another "
                "of the two"
        );
    }
    if (!strong && r.match.kind == "write") {
        out.report(
            own,
            own +
                " weakens a rule for writes, which always run on the primary; expected strong, or "
                "match.kind: read"
        );
    }
}

void check_settings(const std::string& path, const rule& r, diagnostics& out) {
    for (const auto& [name, setting] : r.settings) {
        const auto own = concat({path, ".settings.", name});
        if (!is_setting_name(name)) {
            out.report(
                own,
                concat(
                    {path,
                     ".settings: '",
                     name,
                     "' is no name of a setting; expected one such as hnsw.ef_search"}
                )
            );
        } else if (setting.find('\0') != std::string::npos) {
            out.report(own, own + " holds a zero byte; expected text");
        }
    }
}

}  // namespace

void validate_rules(const config& c, diagnostics& out) {
    const auto& rules = c.routing.rules;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const auto path = rule_path(i);
        if (out.broken(path)) {
            continue;
        }
        if (!out.damaged(path + ".match")) {
            check_match(path + ".match", rules[i].match, out);
            check_database(path + ".match", rules[i].match, c, out);
            check_reachable(rules, i, out);
        }
        check_consistency(path, rules[i], c.clusters, out);
        check_settings(path, rules[i], out);
        const auto on_replicas = rules[i].targets && rules[i].targets != targets::primary;
        if (on_replicas && rules[i].match.kind == "write" && !out.broken(path + ".targets")) {
            out.report(
                path + ".targets",
                path + ".targets sends writes to replicas; expected primary, or match.kind: read"
            );
        }
    }
}

}  // namespace weir::config
