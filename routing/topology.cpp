#include "routing/topology.hpp"

#include <algorithm>

namespace weir::routing {

milliseconds staleness(const server_state& server, steady_time now) {
    if (server.sampled == steady_time{}) {
        return milliseconds::max();
    }
    // Rounded up: a promise of "at most 400 ms" must not rest on 400.9.
    const auto age = std::chrono::ceil<milliseconds>(now - server.sampled);
    return server.proven_lag + std::max(age, milliseconds{0});
}

bool sample_is_fresh(const topology& cluster, const server_state& server, steady_time now) {
    return server.sampled != steady_time{} && now - server.sampled <= cluster.sample_age_max;
}

std::string_view name_of(exclusion why) {
    switch (why) {
    case exclusion::none: return "";
    case exclusion::unreachable: return "unreachable";
    case exclusion::no_sample: return "no sample";
    case exclusion::lag: return "lag";
    case exclusion::replay_paused: return "replay paused";
    case exclusion::other_system: return "other system";
    case exclusion::other_timeline: return "other timeline";
    case exclusion::not_a_replica: return "not a replica";
    case exclusion::breaker_open: return "breaker open";
    }
    return "?";
}

std::string_view name_of(server_role role) {
    switch (role) {
    case server_role::unknown: return "unknown";
    case server_role::primary: return "primary";
    case server_role::replica: return "replica";
    }
    return "?";
}

}  // namespace weir::routing
