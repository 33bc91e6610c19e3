#include "config/schema.hpp"

#include "config/print.hpp"
#include "config/scalar.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string_view>

namespace weir::config {

namespace {

const key& find(const std::vector<key>& keys, const std::string& path) {
    const auto dot = path.find('.');
    for (const auto& k : keys) {
        if (k.name == path.substr(0, dot)) {
            return dot == std::string::npos ? k : find(k.children, path.substr(dot + 1));
        }
    }
    FAIL("no key " << path);
    return keys.front();
}

void each(const std::vector<key>& keys, const std::string& path, const auto& visit) {
    for (const auto& k : keys) {
        const auto own = path + "." + k.name;
        visit(k, own);
        each(k.children, own, visit);
    }
}

}  // namespace

TEST_SUITE_BEGIN("config.schema");

TEST_CASE("every default of the table is what a fresh config holds") {
    config fresh;
    fresh.clusters.emplace_back().name = "c";
    fresh.clusters.front().servers.emplace_back();
    fresh.databases.emplace_back().name = "d";
    fresh.users.emplace_back();
    fresh.authentication.rules.emplace_back();
    fresh.routing.rules.emplace_back();
    fresh.stores.emplace_back().name = "s";
    fresh.migrations.emplace_back().name = "m";
    const auto rows = rows_of(fresh);
    CHECK(rows.size() == 104);
    for (const auto& row : rows) {
        CAPTURE(row.key);
        CHECK(row.value == row.default_value);
    }
}

TEST_CASE("defaults are those of the design") {
    struct row {
        std::string_view path;
        std::string_view text;
    };

    constexpr row rows[] = {
        {"listen.address", "127.0.0.1"},
        {"listen.port", "6432"},
        {"listen.max_clients", "1000"},
        {"listen.tls.mode", "disable"},
        {"http.listen", "127.0.0.1:9632"},
        {"workers", "auto"},
        {"clusters.monitor.interval", "200ms"},
        {"clusters.lag.max", "10s"},
        {"clusters.lag.half", "1s"},
        {"clusters.failover.wait", "30s"},
        {"clusters.pool.size", "20"},
        {"clusters.pool.queue_timeout", "2m"},
        {"clusters.pool.max_prepared_statements", "200"},
        {"databases.pool_mode", "transaction"},
        {"authentication.rules.method", "scram-sha-256"},
        {"routing.trait_cache", "64MiB"},
        {"routing.max_parse_bytes", "1MiB"},
        {"log.format", "text"},
        {"stores.port", "5432"},
        {"stores.request_timeout", "30s"},
        {"stores.max_in_flight", "auto"},
        {"stores.gzip", "false"},
        {"migrations.capture", "wal"},
        {"migrations.acknowledge", "async"},
        {"migrations.acknowledge_timeout", "5s"},
        {"migrations.max_retained_wal", "16GiB"},
        {"migrations.lease", "10s"},
        {"migrations.batch.rows", "500"},
        {"migrations.batch.bytes", "8MiB"},
        {"migrations.batch.delay", "20ms"},
        {"migrations.copy.connections", "2"},
        {"migrations.copy.page", "1000"},
    };
    for (const auto& r : rows) {
        CAPTURE(r.path);
        CHECK(find(schema(), std::string(r.path)).default_text == r.text);
    }
}

TEST_CASE("a default that is written down reads back as itself") {
    each(schema(), "", [](const key& k, const std::string& path) {
        if (!k.children.empty() || k.default_text.empty() || k.type == value_type::later) {
            return;
        }
        CAPTURE(path);
        const auto converted = convert(k, k.default_text);
        REQUIRE(converted.result.has_value());
        CHECK(print_value(k, *converted.result) == k.default_text);
    });
}

TEST_CASE("every key is described by a sentence and named once") {
    each(schema(), "", [](const key& k, const std::string& path) {
        CAPTURE(path);
        CHECK(k.description.ends_with("."));
        CHECK(k.description.find('|') == std::string::npos);
        std::set<std::string> names;
        for (const auto& child : k.children) {
            CHECK(names.insert(child.name).second);
        }
        const auto is_struct =
            k.type == value_type::block || k.type == value_type::list || k.type == value_type::map;
        CHECK(is_struct == !k.children.empty());
    });
}

TEST_CASE("keys whose feature is not built yet are in the table") {
    std::string names;
    each(schema(), "", [&](const key& k, const std::string& path) {
        names += k.available() ? "" : path.substr(1) + "\n";
    });
    CHECK(
        names ==
        "clusters.failover.on_two_primaries\n"
        "clusters.pool.reserve\n"
        "clusters.pool.reserve_timeout\n"
        "users.pool_mode\n"
        "authentication.query\n"
        "routing.rules.match.tenant\n"
        "routing.rules.timeout\n"
        "routing.rules.max_concurrency\n"
        "routing.rules.queue_timeout\n"
        "routing.rules.priority\n"
        "routing.rules.transactions\n"
        "routing.rules.stale_writes\n"
        "routing.rules.own_writes\n"
        "routing.rules.wait\n"
        "routing.rules.retry\n"
        "routing.rules.multiplex\n"
        "routing.rules.promote\n"
        "routing.rules.record\n"
        "routing.lazy_begin\n"
        "migrations.shadow\n"
        "migrations.rank\n"
        "migrations.gates\n"
    );
}

TEST_CASE("host and port are taken apart and put together") {
    REQUIRE(parse_host_port("db:5432").has_value());
    CHECK(parse_host_port("db:5432")->host == "db");
    CHECK(parse_host_port("[::1]:80")->host == "::1");
    CHECK(parse_host_port("[::1]:80")->port == 80);
    for (const std::string_view text :
         {"", "db", ":1", "db:", "db:0", "db:65536", "db:x", "::1:80", "[db]:80", "[]:80"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_host_port(text).has_value());
    }
    CHECK(print_host_port("db", 1) == "db:1");
    CHECK(print_host_port("::1", 1) == "[::1]:1");
}

TEST_SUITE_END();

}  // namespace weir::config
