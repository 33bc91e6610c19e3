// Base64 as RFC 4648 section 4 has it: padded, no white space, unused bits zero, so that every text
// has one meaning and every meaning one text.
#pragma once

#include "protocol/byte_reader.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weir::protocol {

[[nodiscard]] std::string base64_encode(byte_span raw);

// nullopt for anything that base64_encode would not have written.
[[nodiscard]] std::optional<std::string> base64_decode(std::string_view text);

}  // namespace weir::protocol
