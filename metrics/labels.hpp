// Label values as Prometheus accepts them.
#pragma once

#include <string>
#include <string_view>

namespace weir::metrics {

// Names come from clients and may be any bytes, but one label that is not UTF-8 makes Prometheus
// refuse the whole scrape. Control characters and bytes outside valid UTF-8 become '?'; what is
// longer than 128 bytes is cut at a character's border.
[[nodiscard]] std::string clean_label(std::string_view text);

}  // namespace weir::metrics
