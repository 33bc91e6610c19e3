// What must hold between keys, and how it is said when it does not.
#include "config/address.hpp"
#include "tests/unit/config/yaml_support.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace weir::config {

namespace {

struct row {
    std::string_view name;
    std::string_view yaml;
    std::string_view errors;
};

void check(const row& r) {
    CAPTURE(r.name);
    CHECK(test::errors_of(r.yaml) == r.errors);
}

// Behind the two lines of test::least, with files from the data folder.
void check_behind(const row& r) {
    CAPTURE(r.name);
    const std::string name = WEIR_CONFIG_DATA "/t.yaml";
    auto text = print_errors(load(test::complete(r.yaml), name, test::variables({})).errors);
    const std::string folder = WEIR_CONFIG_DATA "/";
    for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
        text.erase(at, folder.size());
    }
    CHECK(text == r.errors);
}

}  // namespace

TEST_SUITE_BEGIN("config.validate");

TEST_CASE("clusters and their servers") {
    constexpr row rows[] = {
        {"no server",
         "clusters: {main: {servers: [], monitor: {user: m}}}\ndatabases: {a: {cluster: main}}",
         "t.yaml:1:28: clusters.main.servers is missing or empty; expected at least one server, "
         "such as {host: "
         "127.0.0.1}\n"},
        {"no cluster",
         "clusters: {}\ndatabases: {a: {cluster: main}}",
         "t.yaml:1:11: clusters is missing or empty; expected at least one cluster with servers\n"},
        {"unknown cluster",
         "clusters: {eu: {servers: [{host: a}], monitor: {user: m}}}\ndatabases: {a: {cluster: "
         "main}}",
         "t.yaml:2:26: databases.a.cluster names the unknown cluster 'main'; expected eu\n"},
        {"same server twice",
         "clusters:\n  main:\n    monitor: {user: m}\n    servers:\n      - {host: a}\n      - "
         "{host: a, name: b}\n"
         "databases: {a: {cluster: main}}",
         "t.yaml:6:9: clusters.main.servers[2]: the server 'a:5432' is used twice, first at 5:9; "
         "expected a name of "
         "its own\n"},
        {"same name twice",
         "clusters:\n  main:\n    monitor: {user: m}\n    servers:\n      - {host: a, name: x}\n   "
         "   - {host: b, name: x}\n"
         "databases: {a: {cluster: main}}",
         "t.yaml:6:25: clusters.main.servers[2].name: the server name 'x' is used twice, first at "
         "5:25; expected a "
         "name of its own\n"},
        {"socket directory for a host",
         "clusters: {main: {servers: [{host: /run/postgresql}], monitor: {user: m}}}\ndatabases: "
         "{a: {cluster: main}}",
         "t.yaml:1:36: clusters.main.servers[1].host is '/run/postgresql'; expected one host name "
         "or IP address\n"},
        {"lag below what can be measured",
         "clusters: {main: {servers: [{host: a}], monitor: {user: m, interval: 1s}, lag: {max: "
         "1500ms}}}\n"
         "databases: {a: {cluster: main}}",
         "t.yaml:1:86: clusters.main.lag.max is 1500ms; expected at least 2s, twice "
         "clusters.main.monitor.interval\n"},
        {"no half life",
         "clusters: {main: {servers: [{host: a}], monitor: {user: m}, lag: {half: 0}}}\ndatabases: "
         "{a: {cluster: main}}",
         "t.yaml:1:73: clusters.main.lag.half is '0'; expected a duration from 1ms to 1d, such as "
         "200ms or 10s\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check);
}

TEST_CASE("listeners and certificates") {
    constexpr row rows[] = {
        {"name for an address",
         "listen: {address: localhost}",
         "t.yaml:3:19: listen.address is 'localhost'; expected an IP address, such as 127.0.0.1 or "
         "::\n"},
        {"name for HTTP",
         "http: localhost:80",
         "t.yaml:3:7: http.listen is 'localhost'; expected an IP address, such as 127.0.0.1 or "
         "::\n"},
        {"directory that is not there",
         "listen: {unix_socket: nowhere}",
         "t.yaml:3:23: listen.unix_socket: 'nowhere' is not there; expected a directory\n"},
        {"certificate alone",
         "listen: {tls: {certificate: server.crt}}",
         "t.yaml:3:15: listen.tls.certificate is given alone; expected listen.tls.key with it\n"},
        {"key alone",
         "listen: {tls: {mode: require, key: server.key}}",
         "t.yaml:3:15: listen.tls.key is given alone; expected listen.tls.certificate with it\n"},
        {"TLS without a certificate",
         "listen: {tls: {mode: prefer}}",
         "t.yaml:3:15: listen.tls.mode prefer needs a certificate; expected certificate and key\n"},
        {"missing file",
         "listen: {tls: {mode: prefer, certificate: server.crt, key: no.key}}",
         "t.yaml:3:60: listen.tls.key: the file 'no.key' does not exist; expected a PEM file\n"},
        {"client certificates without ca",
         "listen: {tls: {mode: verify-ca, certificate: server.crt, key: server.key}}",
         "t.yaml:3:15: listen.tls.mode verify-ca needs to know whom to trust; expected ca\n"},
        {"client certificates with ca",
         "listen: {tls: {mode: verify-full, certificate: server.crt, key: server.key, ca: "
         "root.crt}}",
         ""},
    };
    std::for_each(std::begin(rows), std::end(rows), check_behind);
    CHECK(
        test::errors_of("clusters: {main: {servers: [{host: a}], monitor: {user: m}, tls: {mode: "
                        "verify-full}}}\n"
                        "databases: {a: {cluster: main}}") ==
        "t.yaml:1:66: clusters.main.tls.mode verify-full needs to know whom to trust; expected ca\n"
    );
}

TEST_CASE("users and their rules") {
    constexpr row rows[] = {
        {"unknown user in a rule",
         "authentication: {rules: [{database: all, user: [bob], method: reject}]}",
         "t.yaml:3:48: authentication.rules[1].user names the unknown user 'bob'; expected all\n"},
        {"address without a length",
         "authentication: {rules: [{database: all, user: all, address: 10.0.0.1}]}",
         "t.yaml:3:62: authentication.rules[1].address is '10.0.0.1'; expected a network such as "
         "10.0.0.0/8, all or "
         "local; did you mean '10.0.0.1/32'?\n"},
        {"length too large",
         "authentication: {rules: [{database: all, user: all, address: 10.0.0.0/33}]}",
         "t.yaml:3:62: authentication.rules[1].address is '10.0.0.0/33'; expected a network such "
         "as 10.0.0.0/8, all "
         "or local\n"},
        {"trust from anywhere",
         "authentication: {rules: [{database: all, user: all, method: trust}]}",
         "t.yaml:3:61: authentication.rules[1].method trust would let everybody in from 'all'; "
         "expected an address "
         "within 127.0.0.0/8 or ::1/128, or local\n"},
        {"trust from more than loopback",
         "authentication: {rules: [{database: all, user: all, method: trust, address: "
         "127.0.0.0/7}]}",
         "t.yaml:3:61: authentication.rules[1].method trust would let everybody in from "
         "'127.0.0.0/7'; expected an "
         "address within 127.0.0.0/8 or ::1/128, or local\n"},
        {"trust from loopback",
         "authentication: {rules: [{database: all, user: all, method: trust, address: "
         "127.0.0.1/32}, {database: all, "
         "user: all, method: trust, address: \"::1/128\"}, {database: all, user: all, method: "
         "trust, address: local}]}",
         ""},
        {"user without a password",
         "users: [{name: app}]",
         "t.yaml:3:9: users[1] 'app' can never log in; expected a password, or a rule with method "
         "trust for this "
         "user\n"},
        {"user without a password who is trusted",
         "users: [{name: app}]\nauthentication: {rules: [{database: all, user: app, method: trust, "
         "address: local}]}",
         ""},
        {"unknown user in the console",
         "users: [{name: app, password: x}]\nconsole: {admin: [app], stats: [root]}",
         "t.yaml:4:32: console.stats names the unknown user 'root'; expected app\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_behind);
    CHECK(
        test::errors_of(
            "clusters: {main: {servers: [{host: a}], monitor: {user: m}}}\ndatabases: {app: "
            "{cluster: main}}\n"
            "authentication: {rules: [{database: ap, user: all}, {database: pgweir, user: all}]}"
        ) ==
        "t.yaml:3:37: authentication.rules[1].database names the unknown database 'ap'; expected "
        "all, pgweir, "
        "pgbouncer or app; did you mean 'app'?\n"
    );
}

TEST_CASE("rules that can never match") {
    constexpr row rows[] = {
        {"behind a rule for everything",
         "routing: {rules: [{name: all}, {name: some, match: {vector: true}}]}",
         "t.yaml:3:32: routing.rules[2] 'some' can never match, because routing.rules[1] 'all' "
         "takes all of its "
         "statements; expected the narrower rule first\n"},
        {"behind a wider one",
         "routing: {rules: [{name: a, match: {vector: true, user: '*'}}, {name: b, match: {user: "
         "x, vector: true}}]}",
         "t.yaml:3:64: routing.rules[2] 'b' can never match, because routing.rules[1] 'a' takes "
         "all of its "
         "statements; expected the narrower rule first\n"},
        {"behind a narrower one",
         "routing: {rules: [{name: a, match: {vector: true, user: x}}, {name: b, match: {vector: "
         "true}}]}",
         ""},
        {"behind one that is not understood",
         "routing: {rules: [{name: a, match: {tenant: x}}, {name: b}]}",
         "t.yaml:3:37: routing.rules[1].match.tenant is not available in this version\n"},
        {"a search that writes",
         "routing: {rules: [{name: a, match: {kind: write, vector: true}}]}",
         "t.yaml:3:36: routing.rules[1].match can never match, because a vector search is a read; "
         "expected kind: "
         "read, or no vector\n"},
        {"shape",
         "routing: {rules: [{name: a, match: {shape: 0123}}]}",
         "t.yaml:3:44: routing.rules[1].match.shape is '0123'; expected 32 hex digits in lower "
         "case, as SHOW ROUTE "
         "prints them\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_behind);
    CHECK(
        test::errors_of("clusters: {main: {servers: [{host: a}], monitor: {user: m}}}\n"
                        "databases: {app_1: {cluster: main}}\n"
                        "routing: {rules: [{name: a, match: {database: 'app?1*'}}, {name: b, "
                        "match: {database: 'app'}}]}") ==
        "t.yaml:3:87: routing.rules[2].match.database 'app' can never match, because no database "
        "has such a name; "
        "expected a name or pattern of one under databases\n"
    );
}

TEST_CASE("what a rule asks for") {
    constexpr row rows[] = {
        {"bound below two samples",
         "routing: {rules: [{name: a, consistency: {bounded: 399ms}}]}",
         "t.yaml:3:42: routing.rules[1].consistency is bounded: 399ms; expected at least 400ms, "
         "twice "
         "clusters.main.monitor.interval\n"},
        {"bound of two samples",
         "routing: {rules: [{name: a, consistency: {bounded: 400ms}}]}",
         ""},
        {"strong on replicas",
         "routing: {rules: [{name: a, consistency: strong, targets: replicas}]}",
         "t.yaml:3:42: routing.rules[1].consistency strong is served by the primary only, and "
         "targets is replicas; "
         "expected another of the two\n"},
        {"stale writes",
         "routing: {rules: [{name: a, match: {kind: write}, consistency: eventual}]}",
         "t.yaml:3:64: routing.rules[1].consistency weakens a rule for writes, which always run on "
         "the primary; "
         "expected strong, or match.kind: read\n"},
        {"writes on replicas",
         "routing: {rules: [{name: a, match: {kind: write}, targets: replicas}]}",
         "t.yaml:3:60: routing.rules[1].targets sends writes to replicas; expected primary, or "
         "match.kind: read\n"},
        {"setting",
         "routing: {rules: [{name: a, settings: {work_mem: 64MB, 'a b': 1, 2x: 1, a..b: 1, "
         "hnsw.ef_search: 5}}]}",
         "t.yaml:3:56: routing.rules[1].settings: 'a b' is no name of a setting; expected one such "
         "as hnsw.ef_search\n"
         "t.yaml:3:66: routing.rules[1].settings: '2x' is no name of a setting; expected one such "
         "as hnsw.ef_search\n"
         "t.yaml:3:73: routing.rules[1].settings: 'a..b' is no name of a setting; expected one "
         "such as "
         "hnsw.ef_search\n"},
        {"same name twice",
         "routing: {rules: [{name: a, match: {user: x}}, {name: a}]}",
         "t.yaml:3:55: routing.rules[2].name: the rule name 'a' is used twice, first at 3:26; "
         "expected a name of its "
         "own\n"},
    };
    std::for_each(std::begin(rows), std::end(rows), check_behind);
}

TEST_CASE("networks know their family and whether they are loopback") {
    struct network_row {
        std::string_view text;
        bool valid;
        bool loopback;
    };

    constexpr network_row rows[] = {
        {"127.0.0.1/32", true, true},
        {"127.1.2.3/8", true, true},
        {"127.0.0.0/7", true, false},
        {"0.0.0.0/0", true, false},
        {"::1/128", true, true},
        {"::1/127", true, false},
        {"::2/128", true, false},
        {"::ffff:127.0.0.1/128", true, false},
        {"fd00::/8", true, false},
        {"127.0.0.1", false, false},
        {"127.0.0.1/", false, false},
        {"127.0.0.1/33", false, false},
        {"127.0.0.1/-1", false, false},
        {"::1/129", false, false},
        {"127.1/8", false, false},
        {"/8", false, false},
    };
    for (const auto& r : rows) {
        CAPTURE(r.text);
        const auto parsed = parse_network(std::string(r.text));
        CHECK(parsed.has_value() == r.valid);
        CHECK((parsed && parsed->loopback()) == r.loopback);
    }
    CHECK(is_ip_address("::"));
    CHECK_FALSE(is_ip_address("10.0.0.1/8"));
}

TEST_SUITE_END();

}  // namespace weir::config
