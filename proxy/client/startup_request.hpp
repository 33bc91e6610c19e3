// What a StartupMessage asks for. Pure.
#pragma once

#include "protocol/diagnostic.hpp"
#include "protocol/startup.hpp"

#include <boost/system/result.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::proxy::client {

using startup_settings = std::vector<std::pair<std::string, std::string>>;

// The settings in the order PostgreSQL applies them: those of `options` first, then the packet's
// own; names in lower case, a later one of the same name wins. FATAL that names what cannot be a
// setting or cannot be read.
[[nodiscard]] boost::system::result<startup_settings, protocol::diagnostic> read_startup_settings(
    const protocol::startup_message& message
);

// Whether SET would take it as the name of a parameter: words of letters, digits, '_' and '$',
// joined by dots.
[[nodiscard]] bool is_setting_name(std::string_view name) noexcept;

}  // namespace weir::proxy::client
