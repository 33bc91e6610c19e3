// A migration as its runner sees it now.
#pragma once

#include "migration/stream_run.hpp"

#include <cstdint>
#include <string>

namespace weir::migration {

struct migration_status {
    std::string name;
    migration::phase phase = migration::phase::off;
    std::string reason;       // of the phase
    bool writer = false;      // this process holds the lease
    std::string standing_by;  // why not
    std::string trouble;      // what it is waiting for now
    std::uint64_t rows_copied = 0;
    std::uint64_t rows_to_copy = 0;  // the planner's count
    std::uint64_t rows_streamed = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lag_rows = 0;
    std::uint64_t lag_bytes = 0;
    double lag_seconds = 0;
    std::uint64_t retries = 0;
    std::uint64_t dead_letters = 0;
    std::uint64_t unacknowledged = 0;
    std::uint64_t retained_wal = 0;
    std::uint64_t confirmed = 0;  // LSN
    verify_state verify;
};

}  // namespace weir::migration
