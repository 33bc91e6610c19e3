#include "metrics/families.hpp"

#include <chrono>
#include <cstdint>

namespace weir::metrics {
namespace {

double in_seconds(nanoseconds duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

family::family(std::string name, std::string help, prometheus::MetricType type) {
    made_.name = std::move(name);
    made_.help = std::move(help);
    made_.type = type;
}

prometheus::ClientMetric& family::add_labelled(const label_list& labels) {
    auto& metric = made_.metric.emplace_back();
    metric.label.reserve(labels.size());
    for (const auto& [name, value] : labels) {
        metric.label.push_back({std::string(name), value});
    }
    return metric;
}

void family::add(const label_list& labels, double value) {
    auto& metric = add_labelled(labels);
    switch (made_.type) {
    case prometheus::MetricType::Counter: metric.counter.value = value; break;
    case prometheus::MetricType::Gauge: metric.gauge.value = value; break;
    default: metric.untyped.value = value; break;
    }
}

void family::add(const label_list& labels, const histogram_sum& sum) {
    auto& shown = add_labelled(labels).histogram;
    std::uint64_t below = 0;
    for (std::size_t k = 0; k < histogram::bounds; ++k) {
        below += sum.buckets[k];
        shown.bucket.push_back({below, in_seconds(histogram::bound(k))});
    }
    shown.sample_count = below + sum.buckets[histogram::bounds];
    shown.sample_sum = in_seconds(nanoseconds{static_cast<std::int64_t>(sum.nanoseconds)});
}

}  // namespace weir::metrics
