// One cluster as one worker sees it: the latest snapshot, who waits for a better one, how busy its
// servers are from here, what the catalogs say. Belongs to the worker's thread; new snapshots
// arrive by message.
#pragma once

#include "config/config.hpp"
#include "proxy/signal.hpp"
#include "proxy/upstream/pool.hpp"
#include "routing/balancer.hpp"
#include "routing/breaker.hpp"
#include "routing/catalog.hpp"
#include "routing/judgement.hpp"
#include "routing/topology.hpp"

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

namespace weir::proxy {

struct database_view {
    routing::catalog_ptr catalog;  // null: not read yet
    routing::judgement_cache judgements;
    bool requested = false;
};

struct cluster_view {
    std::shared_ptr<const config::cluster> config;
    routing::topology_ptr topology;
    std::vector<routing::server_load> loads;  // by server index
    std::unordered_set<signal*> waiting;      // sessions to wake when a snapshot arrives
    std::map<std::string, database_view, std::less<>> databases;

    void publish(routing::topology_ptr fresh) {
        topology = std::move(fresh);
        const auto all = std::exchange(waiting, {});
        for (auto* one : all) {
            one->notify();
        }
    }
};

}  // namespace weir::proxy
