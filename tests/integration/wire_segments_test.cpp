// Messages are cut by their length, however the bytes arrive: from the client and from the server.
#include "tests/integration/support/dialogue.hpp"
#include "tests/integration/support/relay.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace weir::integration {
namespace {

// Bytes that look like messages of the server.
const std::string false_ready("Z\0\0\0\5I", 6);
const std::string false_error("E\0\0\0\5\0", 6);

script treacherous() {
    script unit;
    const std::string many = "select $1::bytea || $2::bytea from generate_series(1, 12)";
    unit.parse("", many)
        .bind("", "", {false_ready + false_ready, false_error}, value_format::binary)
        .describe_portal("")
        .execute()
        .sync();
    return unit.query("select 'ZZZZZ', repeat('Z', 70), null")
        .query("copy (select 'Z' || repeat('E', g) from generate_series(1, 12) g) to stdout")
        .query("select 1/0");
}

const std::string treacherous_kinds =
    "1 2 T D D D D D D D D D D D D C Z(I) T D C Z(I) H d d d d d d d d d d d d c C Z(I) E(22012) "
    "Z(I)";

}  // namespace

TEST_SUITE_BEGIN("integration.wire_segments");

TEST_CASE("B07 rows that look like messages are rows however the client's bytes are cut") {
    const std::vector<dialogue> all = {
        {.name = "all kinds of results",
         .steps = {said(treacherous(), 4), said(script().query("select 1"))},
         .expected = treacherous_kinds + " | T D C Z(I)"},
    };
    check_like_direct(cluster::shared(), all);
}

TEST_CASE("B07 rows that look like messages are rows however the server's bytes are cut") {
    auto& servers = cluster::shared();
    const dialogue what = {
        .name = "all kinds of results",
        .steps = {said(treacherous(), 4), said(script().query("select 1"))},
    };
    const auto direct = play(what, servers, servers.primary().at);
    REQUIRE(direct.kinds == treacherous_kinds + " | T D C Z(I)");
    relay between(servers.primary().at, 0);
    proxy_options options;
    options.primary_only = true;
    options.pool = "{size: 1}";
    options.relays = {{servers.primary().name, between.port()}};
    proxy_process proxy(servers, options);
    for (const std::size_t size : {1, 2, 3, 5, 7, 64, 4095}) {
        CAPTURE(size);
        between.set_size(size);
        for (const auto how : {cutting::whole, cutting::random}) {
            const auto through = play(what, servers, proxy.at(), how, 7);
            CHECK(through.kinds == direct.kinds);
            CHECK(through.details == direct.details);
        }
    }
    between.set_size(0);
}

TEST_CASE("B07 a login works byte by byte from both sides") {
    auto& servers = cluster::shared();
    relay to_server(servers.primary().at, 1);
    proxy_options options;
    options.primary_only = true;
    options.relays = {{servers.primary().name, to_server.port()}};
    proxy_process proxy(servers, options);
    relay to_proxy(proxy.at(), 1);
    wire_client client({.host = "127.0.0.1", .port = to_proxy.port()}, login_as(servers));
    CHECK(client.value("select 7") == "7");
}

TEST_CASE("B07 large rows are whole in every cut") {
    auto& servers = cluster::shared();
    relay between(servers.primary().at, 4095);
    proxy_options options;
    options.primary_only = true;
    options.relays = {{servers.primary().name, between.port()}};
    proxy_process proxy(servers, options);
    wire_client client(proxy.at(), login_as(servers));
    const std::string sql = "select repeat('Z', 2000000 + g) from generate_series(1, 3) g";
    const auto came = client.ask(script().query(sql));
    REQUIRE(kinds(came) == "T D D D C Z(I)");
    for (std::size_t i = 1; i <= 3; ++i) {
        CHECK(came[i].column(0) == std::string(2'000'000 + i, 'Z'));
    }
}

TEST_SUITE_END();

}  // namespace weir::integration
