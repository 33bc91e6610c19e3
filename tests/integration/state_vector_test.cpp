// Settings of vector searches: each client's own on every server, a rule's for its statements only.
#include "tests/integration/state_tools.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.state_vector");

namespace {

// More rows than hnsw.ef_search finds by default, so that a search tells the value by its length.
void load_vectors(const cluster& servers) {
    auto direct = superuser(servers);
    if (direct.value("select to_regclass('public.state_vectors') is null") == "t") {
        direct.query("create table state_vectors (id int primary key, e vector(3))");
        direct.query(
            "insert into state_vectors select g, array[g % 17, g % 23, g % 31]::vector "
            "from generate_series(1, 2000) g"
        );
        direct.query("create index on state_vectors using hnsw (e vector_l2_ops)");
        direct.query("analyze state_vectors");
        direct.query("grant select on state_vectors to public");
    }
    servers.catch_up();
}

constexpr const char* search = "select id from state_vectors order by e <-> '[8,11,15]' limit 200";
constexpr const char* search_with =
    "select id from state_vectors order by e <-> $1::vector limit 200";

int found(pq_connection& by) {
    return by.query(search).rows();
}

// Off, so that small tables use their index too.
void use_index(pq_connection& client) {
    client.query("set enable_seqscan = off");
}

proxy_options three_servers(const std::string& rule) {
    proxy_options options;
    options.pool = "{size: 2}";
    options.lag = "{slow_start: 0s, max: 1h}";
    options.lines = {"routing: {rules: [" + rule + "]}"};
    return options;
}

constexpr const char* bounded = "{name: nn, match: {vector: true}, consistency: {bounded: 1h}}";

double searches_on(const proxy_process& proxy, const std::string& node) {
    return proxy.metric("pgweir_queries_total", {{"server", node}, {"kind", "vector"}});
}

}  // namespace

TEST_CASE("B129 hnsw.ef_search of one client holds on three servers and for it alone") {
    auto& servers = cluster::shared();
    load_vectors(servers);
    proxy_process proxy(servers, three_servers(bounded));
    pq_connection one(proxy.at(), login_as(servers));
    pq_connection other(proxy.at(), login_as(servers));
    use_index(one);
    use_index(other);
    one.query("set hnsw.ef_search = 400");
    // Until the catalog is read everything runs on the primary.
    REQUIRE(wait_until([&] {
        return found(other) == 40 && searches_on(proxy, "n2") > 0 && searches_on(proxy, "n3") > 0;
    }));
    for (int i = 0; i < 60; ++i) {
        CHECK(found(one) == 200);
        CHECK(found(other) == 40);
        CHECK(one.query(search_with, {"[8,11,15]"}).rows() == 200);
        CHECK(other.query(search_with, {"[8,11,15]"}).rows() == 40);
    }
    one.query("reset hnsw.ef_search");
    for (int i = 0; i < 20; ++i) {
        CHECK(found(one) == 40);
    }
}

TEST_CASE("B129 the setting holds on a server that has not loaded the library yet") {
    auto& servers = cluster::shared();
    load_vectors(servers);
    proxy_process proxy(servers, one_server("{size: 2}"));
    auto as = login_as(servers);
    as.options = "options='-c hnsw.ef_search=300'";
    pq_connection given(proxy.at(), as);
    use_index(given);
    pq_connection made(proxy.at(), login_as(servers));
    use_index(made);
    made.query("set hnsw.ef_search = 150");
    // Both connections are new: nobody has used a vector on them.
    CHECK(shown(made, "hnsw.ef_search") == "150");
    CHECK(shown(given, "hnsw.ef_search") == "300");
    CHECK(found(made) == 150);
    CHECK(found(given) == 200);
    pq_connection plain(proxy.at(), login_as(servers));
    use_index(plain);
    pool_holder all(proxy, login_as(servers), 2);
    all.each([&] {
        CHECK(found(plain) == 40);
        CHECK(found(made) == 150);
        CHECK(found(given) == 200);
        CHECK(shown(plain, "hnsw.ef_search") == "40");
    });
}

TEST_CASE("B129 a value that the library refuses when it is loaded harms nobody") {
    auto& servers = cluster::shared();
    load_vectors(servers);
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection one(proxy.at(), login_as(servers));
    pq_connection other(proxy.at(), login_as(servers));
    use_index(one);
    use_index(other);
    CHECK(code_of(one, "set hnsw.ef_search = 999999").empty());  // as PostgreSQL: not loaded yet
    CHECK(found(one) == 40);
    for (int i = 0; i < 3; ++i) {
        CHECK(found(other) == 40);
        CHECK(code_of(other, "select 1").empty());
    }
}

TEST_CASE("B129 SET LOCAL holds for its transaction") {
    auto& servers = cluster::shared();
    load_vectors(servers);
    proxy_process proxy(servers, three_servers(bounded));
    pq_connection one(proxy.at(), login_as(servers));
    pq_connection other(proxy.at(), login_as(servers));
    use_index(one);
    use_index(other);
    for (int i = 0; i < 10; ++i) {
        one.query("begin");
        one.query("set local hnsw.ef_search = 120");
        CHECK(found(one) == 120);
        one.query("commit");
        CHECK(found(one) == 40);
        CHECK(found(other) == 40);
    }
}

TEST_CASE("B129 a rule's settings are for its statements only") {
    auto& servers = cluster::shared();
    load_vectors(servers);
    proxy_process proxy(
        servers,
        three_servers("{name: nn, match: {vector: true}, consistency: {bounded: 1h}, "
                      "settings: {hnsw.ef_search: 130, enable_seqscan: \"off\"}}")
    );
    pq_connection one(proxy.at(), login_as(servers));
    pq_connection other(proxy.at(), login_as(servers));
    for (int i = 0; i < 20; ++i) {
        CHECK(found(one) == 130);
        CHECK(shown(one, "enable_seqscan") == "on");
        CHECK(shown(other, "enable_seqscan") == "on");
        const auto seen = shown(other, "hnsw.ef_search");
        CHECK((seen == "40" || seen == "42704" || seen.empty()));
        CHECK(found(other) == 130);
    }
    // The client's own value is back for what the rule does not speak of.
    one.query("set hnsw.ef_search = 60");
    for (int i = 0; i < 10; ++i) {
        CHECK(found(one) == 130);
        CHECK(shown(one, "hnsw.ef_search") == "60");
    }
}

TEST_SUITE_END();

}  // namespace weir::integration
