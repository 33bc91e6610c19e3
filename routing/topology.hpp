// The servers of one cluster as last measured: an immutable snapshot, published to every worker by
// message.
#pragma once

#include "routing/position.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

using steady_time = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

enum class server_role : std::uint8_t { unknown, primary, replica };

// Why a server gets no reads. Printed by SHOW TOPOLOGY and SHOW ROUTE.
enum class exclusion : std::uint8_t {
    none,
    unreachable,
    no_sample,  // never measured, or the sample is too old
    lag,        // beyond lag.max, or not yet back below 80 % of it
    replay_paused,
    other_system,  // system identifier differs from the cluster's
    other_timeline,
    not_a_replica,
    breaker_open,
};

struct server_state {
    std::string name;
    std::string host;
    std::uint16_t port = 0;
    std::string zone;
    server_role role = server_role::unknown;
    bool up = false;                            // the last probe got an answer
    exclusion excluded = exclusion::no_sample;  // for reads as a replica
    std::uint64_t system_identifier = 0;
    timeline_id timeline{};
    lsn replayed{};  // replica: replay position; primary: insert position
    milliseconds
        lag{};  // time lag of the last sample, replicas only: the likely figure, for weights
    milliseconds proven_lag{};  // the same, the most it can have been: for promises
    std::uint64_t lag_bytes = 0;
    steady_time sampled{};  // when the last sample was taken; default: never
    double base_weight = 1.0;
    double weight = 0.0;     // effective weight, 0 when excluded
    std::string error;       // last probe error, one line
    int server_version = 0;  // server_version_num
};

constexpr std::size_t no_server = static_cast<std::size_t>(-1);

struct topology {
    std::uint64_t version = 0;
    std::string cluster;
    std::size_t primary = no_server;  // index into servers, or no_server
    std::uint64_t system_identifier = 0;
    timeline_id timeline{};
    bool two_primaries = false;  // then primary is no_server: new writes wait until one remains
    milliseconds lag_max{};      // of the cluster's configuration
    milliseconds
        sample_age_max{};  // an older sample proves nothing: the server is not used as a replica
    std::vector<server_state> servers;  // in the order of the configuration
};

// How old the data of a replica can be at most at `now`: proven lag plus the age of the sample.
// Never negative; the largest value when there is no sample.
[[nodiscard]] milliseconds staleness(const server_state& server, steady_time now);

// False once the sample of the server has become too old to be trusted.
[[nodiscard]] bool
sample_is_fresh(const topology& cluster, const server_state& server, steady_time now);

// "lag", "replay paused": as SHOW TOPOLOGY and SHOW ROUTE print it; "" for none.
[[nodiscard]] std::string_view name_of(exclusion why);
[[nodiscard]] std::string_view name_of(server_role role);

using topology_ptr = std::shared_ptr<const topology>;

}  // namespace weir::routing
