// The log: one line per event on standard error, for people or as JSON.
#pragma once

#include "config/config.hpp"

#include <string>
#include <string_view>

namespace weir::proxy {

// Sets level and form; may be called again after a reload, from any thread.
void set_up_logging(const config::log& how);

// The text between the quotes of a JSON string.
[[nodiscard]] std::string json_escape(std::string_view text);

}  // namespace weir::proxy
