// Reads what routing must know of each database's catalog, on one connection per database to the
// primary (to a replica while there is none), and again when it has changed.
#pragma once

#include "config/config.hpp"
#include "proxy/asio.hpp"
#include "routing/catalog.hpp"
#include "routing/topology.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace weir::proxy {

struct catalog_loader_options {
    config::cluster cluster;
    routing::catalog_builder::parser parse;
    // On the thread that runs `io`. `database` is the name on the server.
    std::function<void(const std::string& database, const routing::catalog_ptr& snapshot)> publish;
    std::chrono::milliseconds poll = std::chrono::seconds{3};  // between two looks for a change
    std::size_t max_databases = 64;  // more are never loaded: their reads go to the primary
};

// Threads: the one that runs `io`, except request and refresh.
class catalog_loader {
public:
    catalog_loader(asio::io_context& io, catalog_loader_options options);
    catalog_loader(const catalog_loader&) = delete;
    catalog_loader& operator=(const catalog_loader&) = delete;
    ~catalog_loader();  // stops

    // Which servers there are. Nothing is loaded before the first call.
    void use(const routing::topology_ptr& topology);

    // A client uses this database of the cluster (name on the server). Cheap to repeat. Any thread.
    void request(std::string database);

    // Something that may have changed the catalog ran there: look now, not at the next turn. Any
    // thread.
    void refresh(std::string database);

    // Nothing is published any more when it returns.
    void stop();

private:
    class state;
    std::shared_ptr<state> state_;
};

}  // namespace weir::proxy
