#include "config/diff.hpp"

#include "config/print.hpp"
#include "tests/unit/config/yaml_support.hpp"

#include <doctest/doctest.h>

using namespace std::chrono_literals;

namespace weir::config {

namespace {

config sample() {
    auto c = *load(
                  "clusters: {main: {servers: [{host: a}, {host: b}], monitor: {user: m, password: "
                  "first}}}\n"
                  "databases: {app: {cluster: main}, other: {cluster: main}}\n"
                  "users: [{name: app, password: hunter2}]\n"
                  "routing: {rules: [{name: one, match: {user: x}}, {name: two}]}\n",
                  "t.yaml",
                  test::variables({})
    )
                  .value;
    return c;
}

std::string shown(const config& before, const config& after) {
    std::string text;
    for (const auto& d : differences(before, after)) {
        text += to_string(d) + "\n";
    }
    return text;
}

const config_row& row_of(const std::vector<config_row>& rows, const std::string& name) {
    for (const auto& row : rows) {
        if (row.key == name) {
            return row;
        }
    }
    FAIL("no row " << name);
    return rows.front();
}

}  // namespace

TEST_SUITE_BEGIN("config.diff");

TEST_CASE("equal configs do not differ") {
    CHECK(shown(sample(), sample()) == "");
}

TEST_CASE("changed values are shown and secrets are not") {
    auto after = sample();
    after.listen.port = 7000;
    after.clusters[0].pool.size = 30;
    after.clusters[0].pool.queue_timeout = 5s;
    after.clusters[0].monitor.password = "hunter3";
    after.users[0].secret = "hunter4";
    after.routing.rules[0].consistency = consistency{consistency_level::bounded, 5s};
    after.routing.rules[0].match.vector = false;
    after.http.enabled = false;
    CHECK(
        shown(sample(), after) ==
        "listen.port: 6432 -> 7000 (needs a restart)\n"
        "http.listen: 127.0.0.1:9632 -> off (needs a restart)\n"
        "clusters.main.monitor.password: changed\n"
        "clusters.main.pool.size: 20 -> 30\n"
        "clusters.main.pool.queue_timeout: 2m -> 5s\n"
        "users[app].password: changed\n"
        "routing.rules[one].match.vector: (none) -> false\n"
        "routing.rules[one].consistency: (none) -> bounded: 5s\n"
    );
}

TEST_CASE("elements are matched by name") {
    auto after = sample();
    after.clusters[0].servers.erase(after.clusters[0].servers.begin());
    after.clusters[0].servers.push_back({.name = "c", .host = "c", .zone = {}});
    after.clusters[0].servers[0].weight = 2.5;
    after.databases.pop_back();
    after.users.push_back({.name = "new", .secret = "hunter5"});
    CHECK(
        shown(sample(), after) ==
        "clusters.main.servers[a:5432]: removed\n"
        "clusters.main.servers[b:5432].weight: 1 -> 2.5\n"
        "clusters.main.servers[c]: added\n"
        "databases.other: removed\n"
        "users[new]: added\n"
    );
}

TEST_CASE("the order of a list counts and that of a mapping does not") {
    auto after = sample();
    std::swap(after.routing.rules[0], after.routing.rules[1]);
    std::swap(after.databases[0], after.databases[1]);
    CHECK(shown(sample(), after) == "routing.rules: order changed\n");
}

TEST_CASE("rows show what is in effect and hide secrets") {
    auto c = sample();
    c.clusters[0].monitor.password.clear();
    const auto rows = rows_of(c);
    CHECK(row_of(rows, "users[app].password").value == "***");
    CHECK(row_of(rows, "clusters.main.monitor.password").value.empty());
    CHECK(row_of(rows, "clusters.main.pool.queue_timeout").value == "2m");
    CHECK(row_of(rows, "clusters.main.pool.queue_timeout").default_value == "2m");
    CHECK(row_of(rows, "clusters.main.pool.queue_timeout").reloadable);
    CHECK_FALSE(row_of(rows, "listen.port").reloadable);
    CHECK(row_of(rows, "databases.app.cluster").value == "main");
    CHECK(row_of(rows, "routing.rules[one].match.user").value == "x");
    for (const auto& row : rows) {
        CHECK(row.value.find("hunter2") == std::string::npos);
    }
}

TEST_SUITE_END();

}  // namespace weir::config
