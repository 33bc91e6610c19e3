// Values of settings as SQL. Pure; for whoever replays settings on a server.
#pragma once

#include <string>
#include <string_view>

namespace weir::routing {

// A string literal that means `text` whatever standard_conforming_strings is.
[[nodiscard]] std::string quote_literal(std::string_view text);

// What stands behind "SET name TO" to give the setting this value, as set_config, a Bind message,
// ParameterStatus or a startup option spell it. A list of names such as search_path is taken apart:
// SET quotes each of its elements.
[[nodiscard]] std::string setting_value(std::string_view name, std::string_view text);

}  // namespace weir::routing
