#include "proxy/http/pages.hpp"

#include <boost/json/src.hpp>  // header-only: this is its one source file

#include <algorithm>
#include <exception>

namespace weir::proxy {
namespace {

constexpr std::string_view text_type = "text/plain; charset=utf-8";

page text_page(unsigned status, std::string body) {
    return {.status = status, .type = std::string(text_type), .body = std::move(body)};
}

page ready_page(const readiness& now) {
    const bool any =
        std::any_of(now.clusters.begin(), now.clusters.end(), [](const cluster_readiness& one) {
            return one.reads || one.writes;
        });
    boost::json::object clusters;
    for (const auto& one : now.clusters) {
        boost::json::object entry;
        entry["reads"] = one.reads;
        entry["writes"] = one.writes;
        clusters[one.cluster] = std::move(entry);
    }
    boost::json::object body;
    body["ready"] = any;
    body["clusters"] = std::move(clusters);
    return {
        .status = any ? 200U : 503U,
        .type = "application/json",
        .body = boost::json::serialize(body) + "\n",
    };
}

page make_page(std::string_view path, const http_sources& sources) {
    if (path == "/healthz") {
        return text_page(200, "ok\n");
    }
    if (path == "/metrics") {
        return {
            .status = 200,
            .type = "text/plain; version=0.0.4; charset=utf-8",
            .body = sources.metrics(),
        };
    }
    if (path == "/readyz") {
        return ready_page(sources.ready());
    }
    return text_page(404, "not found: there are /metrics, /healthz and /readyz\n");
}

}  // namespace

page page_for(std::string_view target, const http_sources& sources) {
    try {
        return make_page(target.substr(0, target.find('?')), sources);
    } catch (const std::exception&) {
        return text_page(500, "internal error\n");
    }
}

}  // namespace weir::proxy
