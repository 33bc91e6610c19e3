// How traits are printed: in SHOW ROUTE, in metric labels and in logs. Lower case, words joined by
// "_".
#pragma once

#include "routing/traits.hpp"

#include <string_view>

namespace weir::routing {

[[nodiscard]] std::string_view name_of(statement_kind kind);
[[nodiscard]] std::string_view name_of(primary_reason reason);
[[nodiscard]] std::string_view name_of(pin_reason reason);

}  // namespace weir::routing
