// A cluster of one primary "a" and replicas "b", "c", fed by hand with samples in manual time.
#pragma once

#include "routing/topology_builder.hpp"

#include <string>

namespace weir::routing {

using std::chrono::milliseconds;

constexpr std::uint64_t our_system = 7000;

inline steady_time at(std::int64_t ms) {
    return steady_time{} + std::chrono::hours(1) + milliseconds(ms);
}

inline config::cluster three_servers() {
    config::cluster cluster;
    cluster.name = "main";
    for (const char* name : {"a", "b", "c"}) {
        config::server server;
        server.name = name;
        cluster.servers.push_back(server);
    }
    cluster.lag.slow_start = milliseconds{0};
    return cluster;
}

inline server_sample
primary_at(std::int64_t ms, std::uint64_t position, std::uint32_t timeline = 1) {
    server_sample sample;
    sample.taken = at(ms);
    sample.system_identifier = our_system;
    sample.timeline = {timeline};
    sample.inserted = {position};
    sample.server_version = 150000;
    return sample;
}

inline server_sample
replica_at(std::int64_t ms, std::uint64_t position, std::uint32_t timeline = 1) {
    server_sample sample = primary_at(ms, 0, timeline);
    sample.in_recovery = true;
    sample.replayed = {position};
    sample.received = {position};
    return sample;
}

inline server_sample failed(std::int64_t ms, std::string error = "connection refused") {
    server_sample sample;
    sample.taken = at(ms);
    sample.error = std::move(error);
    return sample;
}

// A cluster whose primary writes 1000 bytes a tick of 200 ms, with both replicas following.
struct busy_cluster {
    topology_builder builder;
    std::int64_t tick = 0;

    explicit busy_cluster(const config::cluster& config = three_servers()) : builder(config) {
        step(0, 0);
        step(0, 0);
    }

    [[nodiscard]] std::int64_t ms() const { return tick * 200; }

    [[nodiscard]] std::uint64_t head() const {
        return 1000 + static_cast<std::uint64_t>(tick) * 1000;
    }

    // Replicas stand where the primary stood so many milliseconds ago.
    topology_ptr step(std::int64_t lag_b, std::int64_t lag_c) {
        ++tick;
        builder.add(0, primary_at(ms(), head()));
        builder.add(1, replica_at(ms(), head() - static_cast<std::uint64_t>(lag_b) * 5));
        builder.add(2, replica_at(ms(), head() - static_cast<std::uint64_t>(lag_c) * 5));
        return builder.build(at(ms()));
    }
};

}  // namespace weir::routing
