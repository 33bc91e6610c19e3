#include "proxy/http/pages.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace weir::proxy;

namespace {

http_sources sources_with(readiness now) {
    return {.metrics = [] { return std::string("a 1\n"); }, .ready = [now] { return now; }};
}

}  // namespace

TEST_SUITE_BEGIN("proxy.http_pages");

TEST_CASE("metrics come in the text format with its type") {
    const auto shown = page_for("/metrics", sources_with({}));
    CHECK(shown.status == 200);
    CHECK(shown.type == "text/plain; version=0.0.4; charset=utf-8");
    CHECK(shown.body == "a 1\n");
}

TEST_CASE("a query string does not change the page") {
    CHECK(page_for("/metrics?name[]=a", sources_with({})).body == "a 1\n");
    CHECK(page_for("/healthz?", sources_with({})).status == 200);
}

TEST_CASE("health is ok whatever the servers do") {
    const auto shown = page_for("/healthz", sources_with({}));
    CHECK(shown.status == 200);
    CHECK(shown.body == "ok\n");
}

TEST_CASE("readiness tells reads and writes of each cluster") {
    const auto shown =
        page_for("/readyz", sources_with({{{"a", true, false}, {"b\"", false, false}}}));
    CHECK(shown.status == 200);
    CHECK(shown.type == "application/json");
    CHECK(
        shown.body ==
        "{\"ready\":true,\"clusters\":{\"a\":{\"reads\":true,\"writes\":false},"
        "\"b\\\"\":{\"reads\":false,\"writes\":false}}}\n"
    );
}

TEST_CASE("readiness is 503 when nothing can be served") {
    CHECK(page_for("/readyz", sources_with({{{"a", false, false}}})).status == 503);
    CHECK(page_for("/readyz", sources_with({})).status == 503);
    CHECK(page_for("/readyz", sources_with({{{"a", false, true}}})).status == 200);
}

TEST_CASE("other paths are not found") {
    for (const auto* target : {"/", "", "/metrics/", "/metricsx", "//metrics", "/readyz/x", "?"}) {
        CAPTURE(target);
        CHECK(page_for(target, sources_with({})).status == 404);
    }
}

TEST_CASE("a source that throws gives 500 and no detail") {
    http_sources broken;
    broken.metrics = []() -> std::string { throw std::runtime_error("secret"); };
    const auto shown = page_for("/metrics", broken);
    CHECK(shown.status == 500);
    CHECK(shown.body == "internal error\n");
}

TEST_SUITE_END();
