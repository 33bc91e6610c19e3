// What the HTTP side answers, without a socket: path in, page out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::proxy {

struct cluster_readiness {
    std::string cluster;
    bool reads = false;   // the primary or some replica would be given a read now
    bool writes = false;  // there is one primary
};

struct readiness {
    std::vector<cluster_readiness> clusters;
};

// Both are called on the control thread, once per request.
struct http_sources {
    std::function<std::string()> metrics;  // Prometheus text format
    std::function<readiness()> ready;
};

struct page {
    unsigned status = 200;
    std::string type;
    std::string body;
};

// `target` is the request's target, query string included. An exception of a source becomes 500.
//   /metrics  the series
//   /healthz  "ok": the control thread runs
//   /readyz   JSON; 503 when no cluster can serve anything
[[nodiscard]] page page_for(std::string_view target, const http_sources& sources);

}  // namespace weir::proxy
