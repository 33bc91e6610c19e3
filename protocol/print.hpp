// One readable line per message, for logs and for failing tests. Never holds parameter values,
// query literals, row values, passwords, keys or the text of errors (which may quote values); only
// names, kinds and sizes.
#pragma once

#include "protocol/backend.hpp"
#include "protocol/byte_reader.hpp"
#include "protocol/frontend.hpp"

#include <string>

namespace weir::protocol {

// `body` is what follows the length word. A message that cannot be decoded is printed with the
// reason.
[[nodiscard]] std::string print_frontend(char type, byte_span body);
[[nodiscard]] std::string print_backend(char type, byte_span body);
[[nodiscard]] std::string print_first_packet(byte_span body);

}  // namespace weir::protocol
