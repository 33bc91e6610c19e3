// What the parts of one worker share: its loop, its scratch space, its caches. Everything here
// belongs to the worker's thread, the immutable snapshots apart.
#pragma once

#include "config/config.hpp"
#include "metrics/probe.hpp"
#include "proxy/asio.hpp"
#include "proxy/parameters.hpp"
#include "proxy/scram_cache.hpp"
#include "proxy/settings.hpp"
#include "proxy/statement.hpp"
#include "proxy/tls.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weir::proxy {

using steady_time = std::chrono::steady_clock::time_point;
using config_ptr = std::shared_ptr<const config::config>;

struct worker_context {
    worker_context(unsigned number, config_ptr settings_from)
        : index(number),
          config(std::move(settings_from)),
          statements(number, static_cast<std::size_t>(config->routing.statement_bytes)) {}

    worker_context(const worker_context&) = delete;
    worker_context& operator=(const worker_context&) = delete;

    // Time of this turn of the loop, good enough for deadlines; set by the janitor's tick.
    steady_time coarse_now = std::chrono::steady_clock::now();

    unsigned index;
    asio::io_context io{1};
    std::shared_ptr<const tls_contexts> tls;
    config_ptr config;  // replaced on this thread after a reload
    std::vector<std::uint8_t> scratch = std::vector<std::uint8_t>(64U << 10);
    std::shared_ptr<metrics::worker_probe> probes =
        std::make_shared<metrics::worker_probe>();  // the registry reads it
    metrics::worker_probe& probe = *probes;
    parameter_intern parameters;
    settings_intern settings;
    statement_registry statements;
    std::uint64_t event = 0;  // counts Parses and uses of statements, to tell what came first
    scram_cache scram;
};

}  // namespace weir::proxy
