#include "metrics/migrations.hpp"

#include "metrics/families.hpp"
#include "metrics/labels.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace weir::metrics {

using prometheus::MetricType;

namespace {

double number(std::uint64_t n) {
    return static_cast<double>(n);
}

// A family with one number for each migration.
struct single {
    const char* name;
    const char* help;
    MetricType type;
    double (*value)(const migration_sample&);
};

constexpr std::array singles{
    single{
        "pgweir_migration_bytes_total",
        "Bytes sent to the store.",
        MetricType::Counter,
        [](const migration_sample& one) { return number(one.bytes); }},
    single{
        "pgweir_migration_lag_bytes",
        "WAL between what the store has and what the primary has written.",
        MetricType::Gauge,
        [](const migration_sample& one) { return number(one.lag_bytes); }},
    single{
        "pgweir_migration_lag_seconds",
        "Age of the oldest commit that is not in the store.",
        MetricType::Gauge,
        [](const migration_sample& one) { return one.lag_seconds; }},
    single{
        "pgweir_migration_lag_rows",
        "Rows read from the source and not yet in the store.",
        MetricType::Gauge,
        [](const migration_sample& one) { return number(one.lag_rows); }},
    single{
        "pgweir_migration_retries_total",
        "Requests to the store that were sent again.",
        MetricType::Counter,
        [](const migration_sample& one) { return number(one.retries); }},
    single{
        "pgweir_migration_dead_letters",
        "Rows that the store refused, set aside.",
        MetricType::Gauge,
        [](const migration_sample& one) { return number(one.dead_letters); }},
    single{
        "pgweir_migration_unacknowledged_total",
        "Commits answered before the store had them, with acknowledge: store.",
        MetricType::Counter,
        [](const migration_sample& one) { return number(one.unacknowledged); }},
    single{
        "pgweir_migration_retained_wal_bytes",
        "WAL that the migration's slot keeps on the primary.",
        MetricType::Gauge,
        [](const migration_sample& one) { return number(one.retained_wal_bytes); }},
};

label_list with(const label_list& labels, std::string_view name, const std::string& value) {
    auto more = labels;
    more.emplace_back(name, clean_label(value));
    return more;
}

}  // namespace

void show(
    std::vector<prometheus::MetricFamily>& out,
    const std::vector<migration_sample>& migrations
) {
    family rows("pgweir_migration_rows_total", "Rows written to the store.", MetricType::Counter);
    family phase("pgweir_migration_phase", "1 for the current phase.", MetricType::Gauge);
    for (const auto& one : migrations) {
        const label_list labels{{"migration", clean_label(one.migration)}};
        rows.add(with(labels, "source", "copy"), number(one.rows_copied));
        rows.add(with(labels, "source", "stream"), number(one.rows_streamed));
        phase.add(with(labels, "phase", one.phase), 1.0);
    }
    out.push_back(std::move(rows).take());
    out.push_back(std::move(phase).take());
    for (const auto& what : singles) {
        family shown(what.name, what.help, what.type);
        for (const auto& one : migrations) {
            shown.add({{"migration", clean_label(one.migration)}}, what.value(one));
        }
        out.push_back(std::move(shown).take());
    }
}

}  // namespace weir::metrics
