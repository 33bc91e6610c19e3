// From samples of the servers of one cluster to the snapshot that routing uses: who is the primary,
// which replicas may serve and with what weight. Pure: samples and times are passed in. Owned by
// one thread.
#pragma once

#include "config/config.hpp"
#include "routing/lag.hpp"
#include "routing/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::routing {

// Older samples are not used: five intervals, and never less than a second.
[[nodiscard]] milliseconds sample_age_max(const config::monitor& monitor);

class topology_builder {
public:
    // `previous` (may be null) carries version, system identifier and timeline over a reload.
    explicit topology_builder(const config::cluster& cluster, const topology* previous = nullptr);

    // `server` is the index in the configuration.
    void add(std::size_t server, const server_sample& sample);

    // Not const: it remembers who was shut out for lag, since that needs a lower lag to come back.
    [[nodiscard]] topology_ptr build(steady_time now);

    // True when the primary stands still above what a replica has received. Its insert position can
    // be above everything flushed for as long as nothing else is written, and the replica would
    // look late. The caller then writes a small record on the primary and reports it; at most one
    // per interval.
    [[nodiscard]] bool wants_heartbeat(steady_time now) const;
    void heartbeat_sent(steady_time now);

private:
    struct member {
        server_sample last;  // the last answer
        bool asked = false;  // an answer or an error has come
        bool up = false;
        std::string error;
        timeline_id timeline{};  // the last proven one
        bool shut_for_lag = false;
        bool cold = true;  // must warm its caches before it gets its full share
        steady_time warming_since{};
        lsn vain_at{};  // replay position at the last heartbeat
        int vain = 0;   // heartbeats sent since it moved
    };

    void adopt_system();
    [[nodiscard]] std::uint64_t first_system() const;
    void elect();
    void follow_primary();
    [[nodiscard]] bool is_primary_of_ours(const member& m) const;
    [[nodiscard]] bool lacks_what_primary_has(const member& m) const;
    [[nodiscard]] exclusion judge(const member& m, steady_time now) const;
    [[nodiscard]] exclusion judge_lag(const member& m, const lag_estimate& lag) const;
    [[nodiscard]] lag_estimate lag_of(const member& m) const;
    [[nodiscard]] double weight_of(const member& m, const server_state& state, steady_time now)
        const;
    [[nodiscard]] server_state describe(std::size_t index, steady_time now);

    config::cluster config_;
    std::vector<member> members_;
    position_history history_;  // of the accepted primary
    std::uint64_t version_ = 0;
    std::uint64_t system_ = 0;  // 0: not known yet
    std::size_t primary_ = no_server;
    std::size_t accepted_ = no_server;  // the last primary, also while there is none
    timeline_id timeline_{};            // of the last primary
    bool two_primaries_ = false;
    steady_time still_since_{};  // since when the primary has been at its position
    lsn still_at_{};
    steady_time heartbeat_{};  // last one
};

}  // namespace weir::routing
