// PostgreSQL's numeric.
#pragma once

#include "migration/codec_error.hpp"

#include <string>
#include <string_view>

namespace weir::migration {

// The binary form (numeric_send) as exactly the text that numeric_out writes: "-12.340", "NaN",
// "Infinity".
[[nodiscard]] codec_result<std::string> read_numeric(std::string_view bytes);

}  // namespace weir::migration
