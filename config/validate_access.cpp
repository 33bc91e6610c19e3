#include "config/address.hpp"
#include "config/suggest.hpp"
#include "config/validate.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace weir::config {

namespace {

constexpr const char* everybody = "all";
// The names of the virtual database that is the console.
constexpr std::array console_names{"pgweir", "pgbouncer"};

bool holds(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// One word for the place of each name in a list of them: the list's own.
void check_names(
    const std::string& path,
    const std::vector<std::string>& given,
    const std::vector<std::string>& known,
    const std::string& what,
    diagnostics& out
) {
    if (out.broken(path)) {
        return;
    }
    for (const auto& name : given) {
        if (!holds(known, name)) {
            const auto expected = known.empty() ? std::string() : "; expected " + one_of(known);
            out.report(
                path,
                concat(
                    {path,
                     " names the unknown ",
                     what,
                     " '",
                     name,
                     "'",
                     expected,
                     suggestion(name, known)}
                )
            );
        }
    }
}

std::string with_length(const std::string& address) {
    return address + (address.find(':') == std::string::npos ? "/32" : "/128");
}

void check_address(const std::string& rule_path, const auth_rule& rule, diagnostics& out) {
    const auto path = rule_path + ".address";
    if (out.broken(path)) {
        return;
    }
    const auto network = parse_network(rule.address);
    const auto word = rule.address == everybody || rule.address == "local";
    if (!network && !word) {
        const auto hint = is_ip_address(rule.address)
                              ? "; did you mean '" + with_length(rule.address) + "'?"
                              : std::string();
        out.report(
            path,
            path + " is '" + rule.address +
                "'; expected a network such as 10.0.0.0/8, all or local" + hint
        );
        return;
    }
    const auto own = rule.address == "local" || (network && network->loopback());
    if (rule.method == auth_method::trust && !own) {
        out.report(
            rule_path + ".method",
            rule_path + ".method trust would let everybody in from '" + rule.address +
                "'; expected an address within 127.0.0.0/8 or ::1/128, or local"
        );
    }
}

// Whether a rule lets the user in without a password.
bool trusted(const config& c, const std::string& name) {
    return std::any_of(
        c.authentication.rules.begin(),
        c.authentication.rules.end(),
        [&](const auth_rule& rule) {
            return rule.method == auth_method::trust &&
                   (holds(rule.users, everybody) || holds(rule.users, name));
        }
    );
}

void check_users(const config& c, diagnostics& out) {
    if (out.broken("authentication.rules")) {
        return;
    }
    for (std::size_t i = 0; i < c.users.size(); ++i) {
        const auto path = "users[" + std::to_string(i + 1) + "]";
        const auto good = !out.broken(path + ".name") && !out.broken(path + ".password");
        if (good && c.users[i].secret.empty() && !trusted(c, c.users[i].name)) {
            out.report(
                path,
                path + " '" + c.users[i].name +
                    "' can never log in; expected a password, or a rule with method trust for this "
                    "user"
            );
        }
    }
}

}  // namespace

void validate_access(const config& c, diagnostics& out) {
    std::vector<std::string> users;
    for (const auto& u : c.users) {
        if (!u.name.empty() && !holds(users, u.name)) {
            users.push_back(u.name);
        }
    }
    if (!out.broken("users")) {
        check_names("console.admin", c.console.admin, users, "user", out);
        check_names("console.stats", c.console.stats, users, "user", out);
    }
    auto rule_users = users;
    rule_users.emplace_back(everybody);
    std::vector<std::string> databases{everybody};
    databases.insert(databases.end(), console_names.begin(), console_names.end());
    auto any_database = out.broken("databases");
    for (const auto& d : c.databases) {
        any_database = any_database || d.name == "*";
        databases.push_back(d.name);
    }
    for (std::size_t i = 0; i < c.authentication.rules.size(); ++i) {
        const auto& rule = c.authentication.rules[i];
        const auto path = "authentication.rules[" + std::to_string(i + 1) + "]";
        if (!out.broken("users")) {
            check_names(path + ".user", rule.users, rule_users, "user", out);
        }
        if (!any_database) {
            check_names(path + ".database", rule.databases, databases, "database", out);
        }
        check_address(path, rule, out);
    }
    check_users(c, out);
}

}  // namespace weir::config
