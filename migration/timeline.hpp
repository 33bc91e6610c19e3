// Timelines of a server's WAL.
#pragma once

#include <cstdint>

namespace weir::migration {

// An entry of a timeline's history: `timeline` ended at `end`, where the next one begins
// (PostgreSQL documentation, "Timelines"; TIMELINE_HISTORY of the replication protocol).
struct timeline_end {
    std::uint32_t timeline = 0;
    std::uint64_t end = 0;
    friend bool operator==(const timeline_end&, const timeline_end&) = default;
};

}  // namespace weir::migration
