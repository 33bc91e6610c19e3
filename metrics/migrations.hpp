// The series of migrations, from samples taken at scrape time.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weir::metrics {

// A migration as its runner last saw it.
struct migration_sample {
    std::string migration;
    std::string phase;  // the current one, e.g. "copying"
    std::uint64_t rows_copied = 0;
    std::uint64_t rows_streamed = 0;
    std::uint64_t bytes = 0;  // of the requests to the store
    std::uint64_t lag_bytes = 0;
    double lag_seconds = 0.0;
    std::uint64_t lag_rows = 0;  // read from the source, not yet in the store
    std::uint64_t retries = 0;
    std::uint64_t dead_letters = 0;        // as the journal holds them now
    std::uint64_t unacknowledged = 0;      // commits whose wait for the store was over first
    std::uint64_t retained_wal_bytes = 0;  // that the slot keeps on the primary
};

// Called once per scrape, on the scraping thread.
using migration_source = std::function<std::vector<migration_sample>()>;

void show(
    std::vector<prometheus::MetricFamily>& out,
    const std::vector<migration_sample>& migrations
);

}  // namespace weir::metrics
