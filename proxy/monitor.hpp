// Watches the servers of one cluster: role, timeline, position. One SQL connection each, one
// question per interval; every answer goes to routing::topology_builder, and what that makes is
// published.
//
// A server that does not answer is reported at once and asked again with growing pauses. What a
// question finds is published when all questions of the round are answered, or at once if it
// changes who may serve.
#pragma once

#include "config/config.hpp"
#include "proxy/asio.hpp"
#include "routing/topology.hpp"

#include <cstddef>
#include <functional>
#include <memory>

namespace weir::proxy {

struct monitor_options {
    config::cluster cluster;
    routing::topology_ptr previous;  // of the same cluster before a reload; may be null
    // On the thread that runs `io`.
    std::function<void(const routing::topology_ptr&)> publish;
};

// Threads: the one that runs `io`, except probe_now.
class monitor {
public:
    monitor(asio::io_context& io, monitor_options options);
    monitor(const monitor&) = delete;
    monitor& operator=(const monitor&) = delete;
    ~monitor();  // stops

    void start();
    // Nothing is published any more when it returns.
    void stop();

    // Asks this server soon, not at the next interval: somebody saw its connection break or its
    // role change. Cheap to repeat. Any thread.
    void probe_now(std::size_t server);

private:
    class state;
    std::shared_ptr<state> state_;
};

}  // namespace weir::proxy
