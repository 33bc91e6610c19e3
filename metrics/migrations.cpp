#include "metrics/migrations.hpp"

#include "metrics/families.hpp"
#include "metrics/labels.hpp"

#include <utility>

namespace weir::metrics {

using prometheus::MetricType;

void show(
    std::vector<prometheus::MetricFamily>& out,
    const std::vector<migration_sample>& migrations
) {
    family rows("pgweir_migration_rows_total", "Rows written to the store.", MetricType::Counter);
    family phase("pgweir_migration_phase", "1 for the current phase.", MetricType::Gauge);
    const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
    std::vector<std::pair<family, std::function<double(const migration_sample&)>>> singles;
    singles.emplace_back(
        family("pgweir_migration_bytes_total", "Bytes sent to the store.", MetricType::Counter),
        [&](const migration_sample& one) { return number(one.bytes); }
    );
    singles.emplace_back(
        family(
            "pgweir_migration_lag_bytes",
            "WAL between what the store has and what the primary has written.",
            MetricType::Gauge
        ),
        [&](const migration_sample& one) { return number(one.lag_bytes); }
    );
    singles.emplace_back(
        family(
            "pgweir_migration_lag_seconds",
            "How long ago the primary stood where the store stands.",
            MetricType::Gauge
        ),
        [](const migration_sample& one) { return one.lag_seconds; }
    );
    singles.emplace_back(
        family(
            "pgweir_migration_lag_rows",
            "Rows read from the source and not yet in the store.",
            MetricType::Gauge
        ),
        [&](const migration_sample& one) { return number(one.lag_rows); }
    );
    singles.emplace_back(
        family(
            "pgweir_migration_retries_total",
            "Requests to the store that were sent again.",
            MetricType::Counter
        ),
        [&](const migration_sample& one) { return number(one.retries); }
    );
    singles.emplace_back(
        family(
            "pgweir_migration_dead_letters",
            "Rows that the store refused, set aside.",
            MetricType::Gauge
        ),
        [&](const migration_sample& one) { return number(one.dead_letters); }
    );
    singles.emplace_back(
        family(
            "pgweir_migration_unacknowledged_total",
            "Commits answered before the store had them, with acknowledge: store.",
            MetricType::Counter
        ),
        [&](const migration_sample& one) { return number(one.unacknowledged); }
    );
    singles.emplace_back(
        family(
            "pgweir_migration_retained_wal_bytes",
            "WAL that the migration's slot keeps on the primary.",
            MetricType::Gauge
        ),
        [&](const migration_sample& one) { return number(one.retained_wal_bytes); }
    );
    for (const auto& one : migrations) {
        const label_list labels{{"migration", clean_label(one.migration)}};
        const auto with = [&](std::string_view name, const std::string& value) {
            auto more = labels;
            more.emplace_back(name, clean_label(value));
            return more;
        };
        rows.add(with("source", "copy"), number(one.rows_copied));
        rows.add(with("source", "stream"), number(one.rows_streamed));
        phase.add(with("phase", one.phase), 1.0);
        for (auto& [shown, value] : singles) {
            shown.add(labels, value(one));
        }
    }
    out.push_back(std::move(rows).take());
    out.push_back(std::move(phase).take());
    for (auto& [shown, value] : singles) {
        out.push_back(std::move(shown).take());
    }
}

}  // namespace weir::metrics
