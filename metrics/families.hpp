// Builds prometheus-cpp's families from sums. Used by registry only.
#pragma once

#include "metrics/histogram.hpp"

#include <prometheus/metric_family.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::metrics {

using label_list = std::vector<std::pair<std::string_view, std::string>>;

class family {
public:
    family(std::string name, std::string help, prometheus::MetricType type);

    // A counter, gauge or untyped sample, after the family's type.
    void add(const label_list& labels, double value);
    void add(const label_list& labels, const histogram_sum& sum);

    [[nodiscard]] prometheus::MetricFamily take() && { return std::move(made_); }

private:
    prometheus::ClientMetric& add_labelled(const label_list& labels);

    prometheus::MetricFamily made_;
};

}  // namespace weir::metrics
