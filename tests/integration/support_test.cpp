// That the tests' own tools can be trusted: each would otherwise hide a fault of the proxy.
#include "tests/integration/support/proxy_process.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.support");

TEST_CASE("the raw client logs in and reads what the server says") {
    auto& servers = cluster::shared();
    wire_client client(servers.primary().at, login_as(servers));
    const auto came = client.ask(script().extended("select $1::text", {"x"}));
    CHECK(kinds(came) == "1 2 T D C Z(I)");
    CHECK(came[3].column(0) == "x");
    CHECK(came[4].tag() == "SELECT 1");
}

TEST_CASE("the raw client logs in by md5") {
    auto& servers = cluster::shared();
    wire_client client(servers.primary().at, login_as(servers, "md5user"));
    CHECK(client.value("select current_user") == "md5user");
}

TEST_CASE("the raw client tells a wrong password") {
    auto& servers = cluster::shared();
    auto as = login_as(servers);
    as.password += "x";
    wire_client client(servers.primary().at);
    CHECK(client.log_in(as).back().code() == "28P01");
}

TEST_CASE("a proxy starts and answers and ends with 0") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers);
    pq_connection client(proxy.at(), login_as(servers));
    CHECK(client.value("select 1") == "1");
    CHECK(proxy.metric("pgweir_build_info") == 1);
    CHECK(proxy.console("SHOW VERSION").rows() == 1);
    CHECK(proxy.resident_bytes() > 0);
    CHECK(proxy.stop() == 0);
}

TEST_CASE("a proxy that does not start says why") {
    proxy_options options;
    options.pool = "{size: none}";
    try {
        proxy_process proxy(cluster::shared(), options);
        FAIL("it started");
    } catch (const std::runtime_error& error) {
        CHECK(std::string(error.what()).find("none") != std::string::npos);
    }
}

TEST_CASE("series are summed by name and labels") {
    const std::string page =
        "# HELP a_total x\na_total{x=\"1\",y=\"2\"} 3\na_total{x=\"1\",y=\"3\"} "
        "4\na_totals 9\nb 2.5\n";
    CHECK(series_sum(page, "a_total", {}) == 7);
    CHECK(series_sum(page, "a_total", {{"y", "3"}}) == 4);
    CHECK(series_sum(page, "b", {}) == 2.5);
    CHECK(series_sum(page, "c", {}) == 0);
}

TEST_SUITE_END();

}  // namespace weir::integration
