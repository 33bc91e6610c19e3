// Adds up the workers' probes and the topology when somebody asks, in the names dashboards and
// alerts use.
#pragma once

#include "metrics/migrations.hpp"
#include "metrics/probe.hpp"

#include <prometheus/collectable.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace weir::metrics {

struct admissions;

// One server as the monitor last saw it. A plain value: this folder knows nothing of routing.
struct server_sample {
    std::string cluster;
    std::string server;
    std::string role;  // "primary", "replica" or "unknown"
    bool up = false;
    bool measured = false;  // lag and weight below mean something: a replica with a sample
    double lag_seconds = 0.0;
    std::uint64_t lag_bytes = 0;
    double weight = 0.0;  // effective share of the draw, 0 when shut out
};

// Called once per scrape, on the scraping thread.
using topology_source = std::function<std::vector<server_sample>()>;

struct registry_options {
    std::string version;  // of pgweir, for pgweir_build_info
    topology_source topology;
    migration_source migrations{};
    std::size_t series_limit = default_series_limit;  // per family, over all workers
};

// Threads: any; calls exclude each other.
class registry final : public prometheus::Collectable {
public:
    explicit registry(registry_options options);
    registry(const registry&) = delete;
    registry& operator=(const registry&) = delete;
    ~registry() override;

    // A worker's counts stay in the sums after the worker is gone.
    void add(std::shared_ptr<const worker_probe> probe);

    // Every family. May throw std::bad_alloc only.
    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

    // The same in Prometheus' text format 0.0.4, which /metrics answers with.
    [[nodiscard]] std::string text() const;

private:
    registry_options options_;
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<const worker_probe>> probes_;
    std::unique_ptr<admissions> admitted_;
};

}  // namespace weir::metrics
