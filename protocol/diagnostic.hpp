// What an ErrorResponse or NoticeResponse made by this program says.
#pragma once

#include "protocol/sqlstate.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::protocol {

// PostgreSQL's names for how bad it is. After fatal and panic the connection ends.
enum class severity : std::uint8_t { error, fatal, panic, warning, notice, debug, info, log };

[[nodiscard]] std::string_view to_string(severity level) noexcept;

struct diagnostic {
    severity level = severity::error;
    sqlstate code = sqlstates::internal_error;
    std::string message;
    std::string detail;  // empty: not sent
    std::string hint;    // empty: not sent
    friend bool operator==(const diagnostic&, const diagnostic&) = default;
};

}  // namespace weir::protocol
