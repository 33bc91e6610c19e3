// Positions and dates to lag: how long ago did the primary stand where a replica stands now?
// Only the proxy's own clock is used, so clocks of servers may differ as they like.
#pragma once

#include "routing/topology.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace weir::routing {

// What one probe of one server brought back. `error` not empty: the server did not answer, the rest
// is void.
struct server_sample {
    // When the question was sent, not when the answer came: the answer may be younger, never older.
    steady_time taken{};
    bool in_recovery = false;
    std::uint64_t system_identifier = 0;
    timeline_id timeline{};      // 0: the server could not tell
    lsn replayed{};              // in recovery
    lsn received{};              // in recovery; 0: unknown
    lsn inserted{};              // not in recovery
    bool replay_paused = false;  // or a pause was asked for
    int server_version = 0;      // server_version_num
    std::string error;           // one line
};

struct lag_estimate {
    // False: the replica stands before everything remembered, so its lag may be larger than the
    // figures.
    bool known = false;
    milliseconds likely{};  // interpolated between samples
    milliseconds proven{};  // the most it can have been
};

// The dated positions of one primary. Bounded: when it is full, the older half loses every second
// sample, which only makes lags that are long anyway a little coarser.
class position_history {
public:
    static constexpr std::size_t capacity = 4096;

    // Samples come in order of time; an older one is dropped. A position that went back (a crash
    // lost what was never flushed) makes the past worthless and clears it.
    void add(steady_time taken, lsn at);

    void clear() { samples_.clear(); }

    [[nodiscard]] lag_estimate estimate(lsn replica, steady_time taken) const;

    [[nodiscard]] bool empty() const { return samples_.empty(); }

    [[nodiscard]] std::size_t size() const { return samples_.size(); }

    // Of the newest sample; not to be called when empty.
    [[nodiscard]] steady_time newest() const { return samples_.back().taken; }

private:
    struct sample {
        steady_time taken;  // the last time the primary was seen at this position
        lsn at;
    };

    void thin();

    std::vector<sample> samples_;  // both members strictly ascending
};

}  // namespace weir::routing
