// Messages of a log-in, read one at a time and whole. They are few and small; what follows a log-in
// is read otherwise.
#pragma once

#include "protocol/byte_reader.hpp"
#include "proxy/asio.hpp"
#include "proxy/input_buffer.hpp"
#include "proxy/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace weir::proxy {

struct login_message {
    // Asio's when the peer has gone; protocol::errc::bad_length for a length that cannot be;
    // protocol::errc::unexpected_message for a type that is not among the allowed ones.
    error_code ec;
    char type = 0;                   // also of one that was not allowed
    std::vector<std::uint8_t> body;  // without type and length
};

// What PostgreSQL takes at most in a password or SASL message (PG_MAX_AUTH_TOKEN_LENGTH).
inline constexpr std::size_t longest_login_message = 65535;

// A message that is complete in `input` already, is taken from there. `allowed`: type bytes, empty
// for any; judged by the first byte alone, since a peer that means something else may never send
// what looks like the length.
[[nodiscard]] asio::awaitable<login_message>
read_login_message(stream& from, input_buffer& input, std::string_view allowed);

}  // namespace weir::proxy
