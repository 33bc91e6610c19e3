// A route with its reasons, in words: SHOW ROUTE, `pgweir route` and the sampled log line.
#pragma once

#include "routing/judgement.hpp"
#include "routing/router.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

struct explain_candidate {
    std::string server;
    std::string role;
    milliseconds lag{};
    double weight = 0;
    double share = 0;      // of the reads routed like this one, 0 to 1
    std::string excluded;  // why it does not get this read; empty: it may
    bool chosen = false;
};

struct explanation {
    std::string shape;
    std::string kind;
    std::string reason;     // why the primary is needed, empty if a replica would do
    std::string relations;  // comma separated
    std::string functions;
    std::string search;  // "items.embedding <=> $1 limit 10", empty if no vector search
    std::string rule;
    std::string consistency;
    std::string settings;  // "hnsw.ef_search = 200, …"
    std::string choice;    // name of the server, or what is waited for
    std::string route_reason;
    std::vector<explain_candidate> candidates;  // in the order of the configuration
};

// Decides once, with a draw of its own from request.random.
[[nodiscard]] explanation explain(const route_request& request, const judgement& judged);

// Two columns, "item" and "value", one row a fact; candidates as "server b".
struct explain_row {
    std::string item;
    std::string value;
    friend bool operator==(const explain_row&, const explain_row&) = default;
};

[[nodiscard]] std::vector<explain_row> to_rows(const explanation& what);
// The same as "item: value" lines.
[[nodiscard]] std::string to_text(const explanation& what);

}  // namespace weir::routing
