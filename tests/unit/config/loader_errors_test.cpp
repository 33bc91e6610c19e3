// What the loader says about keys and types that are wrong, word for word.
#include "tests/unit/config/yaml_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

namespace weir::config {

namespace {

using test::complete;
using test::errors_of;

struct row {
    std::string_view name;
    std::string_view yaml;  // behind the two lines of test::least
    std::string_view error;
};

void check(const row& r) {
    CAPTURE(r.name);
    CHECK(errors_of(complete(r.yaml)) == std::string(r.error) + "\n");
}

}  // namespace

TEST_SUITE_BEGIN("config.loader_errors");

TEST_CASE("unknown and repeated keys") {
    constexpr row rows[] = {
        {"close to one at the top",
         "listn: {port: 1}",
         "t.yaml:3:1: unknown key 'listn'; expected listen, http, workers, clusters, databases, "
         "users, "
         "authentication, console, routing, log, stores or migrations; did you mean 'listen'?"},
        {"close to one in a block",
         "listen: {prot: 1}",
         "t.yaml:3:10: unknown key 'prot' in listen; expected address, port, unix_socket, "
         "max_clients, login_timeout "
         "or tls; did you mean 'port'?"},
        {"close to none",
         "log: {colour: red}",
         "t.yaml:3:7: unknown key 'colour' in log; expected level, format or connections"},
        {"in an element of a list",
         "routing: {rules: [{name: a, matches: {}}]}",
         "t.yaml:3:29: unknown key 'matches' in routing.rules[1]; expected name, match, "
         "consistency, targets or "
         "settings; did you mean 'match'?"},
        {"given twice",
         "log:\n  level: info\n  level: debug",
         "t.yaml:5:3: log.level is given twice, first at 4:3; expected once"},
        {"given twice in settings",
         "routing: {rules: [{name: a, settings: {b.c: 1, b.c: 2}}]}",
         "t.yaml:3:48: routing.rules[1].settings.b.c is given twice, first at 3:40; expected once"},
        {"missing in an element",
         "users: [{password: x}]",
         "t.yaml:3:9: users[1].name is missing; expected text"},
    };
    std::for_each(std::begin(rows), std::end(rows), check);
}

TEST_CASE("values of the wrong kind") {
    constexpr row rows[] = {
        {"text for a mapping", "listen: 6432", "t.yaml:3:9: listen is text; expected a mapping"},
        {"mapping for a list",
         "users: {name: a}",
         "t.yaml:3:8: users is a mapping; expected a list of mappings"},
        {"text in a list of mappings",
         "users: [a]",
         "t.yaml:3:9: users[1] is text; expected a mapping"},
        {"list for a text",
         "listen: {address: [a]}",
         "t.yaml:3:19: listen.address is a list; expected text"},
        {"nothing for a text",
         "listen:\n  address:\n",
         "t.yaml:4:3: listen.address has no value; expected text"},
        {"empty text",
         "listen: {address: ''}",
         "t.yaml:3:19: listen.address is empty; expected text"},
        {"mapping among names",
         "routing: {safe_functions: [a, {b: c}]}",
         "t.yaml:3:31: routing.safe_functions is a mapping; expected text or a list of texts"},
        {"list of settings",
         "routing: {rules: [{name: a, settings: [b]}]}",
         "t.yaml:3:39: routing.rules[1].settings is a list; expected a mapping of setting names to "
         "values"},
        {"setting without a value",
         "routing: {rules: [{name: a, settings: {b: }}]}",
         "t.yaml:3:40: routing.rules[1].settings.b has no value; expected text or a number"},
        {"mapping without a bound",
         "routing: {rules: [{name: a, consistency: {bound: 5s}}]}",
         "t.yaml:3:42: routing.rules[1].consistency is a mapping; expected strong, eventual or "
         "{bounded: 5s}"},
    };
    std::for_each(std::begin(rows), std::end(rows), check);
}

TEST_CASE("values that are impossible") {
    constexpr row rows[] = {
        {"no number",
         "listen: {port: abc}",
         "t.yaml:3:16: listen.port is 'abc'; expected a whole number from 1 to 65535"},
        {"too large",
         "listen: {port: 65536}",
         "t.yaml:3:16: listen.port is '65536'; expected a whole number from 1 to 65535"},
        {"too large for any number",
         "listen: {port: 99999999999999999999}",
         "t.yaml:3:16: listen.port is '99999999999999999999'; expected a whole number from 1 to "
         "65535"},
        {"fraction",
         "listen: {port: 1.5}",
         "t.yaml:3:16: listen.port is '1.5'; expected a whole number from 1 to 65535"},
        {"word or number",
         "workers: many",
         "t.yaml:3:10: workers is 'many'; expected auto or a whole number from 1 to 1024"},
        {"boolean",
         "log: {connections: maybe}",
         "t.yaml:3:20: log.connections is 'maybe'; expected true or false"},
    };
    std::for_each(std::begin(rows), std::end(rows), check);
}

TEST_CASE("words and units that are close to what was meant") {
    constexpr row rows[] = {
        {"choice",
         "log: {level: warn}",
         "t.yaml:3:14: log.level is 'warn'; expected debug, info, warning or error"},
        {"choice with a likely one",
         "listen: {tls: {mode: verify_full}}",
         "t.yaml:3:22: listen.tls.mode is 'verify_full'; expected disable, allow, prefer, require, "
         "verify-ca or "
         "verify-full; did you mean 'verify-full'?"},
        {"no unit",
         "listen: {login_timeout: 30}",
         "t.yaml:3:25: listen.login_timeout is '30'; expected a duration from 100ms to 1h, such as "
         "200ms or 10s; did "
         "you mean '30ms' or '30s'?"},
        {"below the limit",
         "listen: {login_timeout: 99ms}",
         "t.yaml:3:25: listen.login_timeout is '99ms'; expected a duration from 100ms to 1h, such "
         "as 200ms or 10s"},
        {"decimal unit",
         "routing: {trait_cache: 64MB}",
         "t.yaml:3:24: routing.trait_cache is '64MB'; expected a size from 1MiB to 64GiB, such as "
         "512KiB or 64MiB; "
         "did you mean '64MiB'?"},
        {"endpoint without a port",
         "http: {listen: localhost}",
         "t.yaml:3:16: http.listen is 'localhost'; expected host:port, such as 127.0.0.1:9632, or "
         "off"},
        {"bound without a unit",
         "routing: {rules: [{name: a, consistency: {bounded: 5}}]}",
         "t.yaml:3:52: routing.rules[1].consistency is '5'; expected strong, eventual or {bounded: "
         "5s}; did you mean "
         "'5ms' or '5s'?"},
        {"bounded without its bound",
         "routing: {rules: [{name: a, consistency: bounded}]}",
         "t.yaml:3:42: routing.rules[1].consistency is 'bounded'; expected strong, eventual or "
         "{bounded: 5s}"},
        {"long text is cut",
         "log: {level: "
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}",
         "t.yaml:3:14: log.level is "
         "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'; expected "
         "debug, info, warning or error"},
    };
    std::for_each(std::begin(rows), std::end(rows), check);
}

TEST_CASE("what is not built yet is named as such") {
    constexpr row rows[] = {
        {"key",
         "routing: {lazy_begin: true}",
         "t.yaml:3:11: routing.lazy_begin is not available in this version"},
        {"key in a rule",
         "routing: {rules: [{name: a, retry: true}]}",
         "t.yaml:3:29: routing.rules[1].retry is not available in this version"},
        {"choice",
         "authentication: {rules: [{database: all, user: all, method: cert}]}",
         "t.yaml:3:61: authentication.rules[1].method 'cert' is not available in this version; "
         "expected "
         "scram-sha-256, md5, trust or reject"},
        {"level",
         "routing: {rules: [{name: a, consistency: latest}]}",
         "t.yaml:3:42: routing.rules[1].consistency 'latest' is not available in this version; "
         "expected strong, "
         "eventual or {bounded: 5s}"},
    };
    std::for_each(std::begin(rows), std::end(rows), check);
}

TEST_CASE("variables and files that are missing") {
    constexpr row rows[] = {
        {"variable",
         "users: [{name: a, password: \"${NO_SUCH}\"}]",
         "t.yaml:3:29: users[1].password names the environment variable 'NO_SUCH', which is not "
         "set"},
        {"variable in a number",
         "listen: {port: \"${NO_SUCH}\"}",
         "t.yaml:3:16: listen.port names the environment variable 'NO_SUCH', which is not set"},
        {"half a variable",
         "listen: {address: \"${A\"}",
         "t.yaml:3:19: listen.address has a '${' without a variable's name and '}' ('$${' stands "
         "for '${' itself)"},
        {"file",
         "users: [{name: a, password: \"file:no/such\"}]",
         "t.yaml:3:29: users[1].password names the file 'no/such', which does not exist"},
    };
    std::for_each(std::begin(rows), std::end(rows), check);
}

TEST_CASE("all errors are reported at once in the order of the text") {
    CHECK(
        errors_of(R"(routing:
  rules:
    - {name: a, match: {vector: true}, consistency: {bounded: 100ms}}
    - {retry: 1}
log: {level: loud}
clusters:
  main:
    servers: [{port: 0}]
    pool: {size: 5, min: 6}
databases: {app: {cluster: mian}}
users: [{name: app, password: x}, {name: app, password: y}]
console: {admin: ap}
)") == "t.yaml:3:53: routing.rules[1].consistency is bounded: 100ms; expected at least 400ms, "
       "twice "
       "clusters.main.monitor.interval\n"
       "t.yaml:4:7: routing.rules[2].name is missing; expected text\n"
       "t.yaml:4:8: routing.rules[2].retry is not available in this version\n"
       "t.yaml:5:14: log.level is 'loud'; expected debug, info, warning or error\n"
       "t.yaml:8:5: clusters.main.monitor.user is missing; expected text\n"
       "t.yaml:8:15: clusters.main.servers[1].host is missing; expected text\n"
       "t.yaml:8:22: clusters.main.servers[1].port is '0'; expected a whole number from 1 to "
       "65535\n"
       "t.yaml:9:26: clusters.main.pool.min is 6; expected at most 5, the size of the pool\n"
       "t.yaml:10:28: databases.app.cluster names the unknown cluster 'mian'; expected main; did "
       "you mean 'main'?\n"
       "t.yaml:11:42: users[2].name: the user 'app' is used twice, first at 11:16; expected a name "
       "of its own\n"
       "t.yaml:12:18: console.admin names the unknown user 'ap'; expected app; did you mean "
       "'app'?\n"
    );
}

TEST_CASE("an empty file and a file of another shape say what is expected") {
    CHECK(
        errors_of("") ==
        "t.yaml:1:1: clusters is missing or empty; expected at least one cluster with servers\n"
        "t.yaml:1:1: databases is missing or empty; expected at least one, such as \"*\": "
        "{cluster: main} for all\n"
    );
    CHECK(
        errors_of("- a\n") ==
        "t.yaml:1:1: the file holds a list; expected a mapping of keys such as listen and "
        "clusters\n"
    );
    CHECK(errors_of("a: [\n") == "t.yaml:2:1: invalid YAML: end of sequence flow not found\n");
}

TEST_CASE("no error shows a secret") {
    const auto known = test::variables({{"SECRET", "hunter2"}, {"EMPTY", ""}});
    constexpr std::string_view texts[] = {
        "users: [{name: a, password: {hunter2: x}}]",
        "users: [{name: a, password: [hunter2]}]",
        "users: [{name: a, password: pass,hunter2}]",
        "users: [{name: a, password: pass,hunter2: x}]",
        "users: [{name: a, password: \"x${hunter2}\"}]",
        "users: [{name: a, password: \"hunter2${\"}]",
        "users: [{name: a, password: *hunter2}]",
        "users: [{name: a, password: !hunter2 }]",
        "users: [{name: a, password: \"${SECRET}\", passwort: x}]",
        "users: [{name: a, password: \"${EMPTY}\"}]",
        "users: [{name: a, password: hunter2}, {name: a, password: hunter2}]",
        "users: [{name: a, password: hunter2: x}]",
        "users: hunter2",
        "log: {level: \"${SECRET}\"}",
        "listen: {port: \"${SECRET}\"}",
        "listen: {login_timeout: \"${SECRET}\"}",
        "routing: {trait_cache: \"${SECRET}\"}",
    };
    for (const std::string_view yaml : texts) {
        CAPTURE(yaml);
        const auto errors = errors_of(complete(yaml), known);
        CHECK_FALSE(errors.empty());
        CHECK(errors.find("hunter2") == std::string::npos);
    }
    CHECK(
        errors_of(complete("users: [{name: a, password: x,yz}]")) ==
        "t.yaml:3:31: unknown key in users[1]; expected name or password\n"
    );
}

TEST_SUITE_END();

}  // namespace weir::config
