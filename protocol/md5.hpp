// PostgreSQL's md5 passwords, both sides. Weak, and deprecated by PostgreSQL; kept for those who
// still have them. Source: PostgreSQL documentation, "Message Flow", AuthenticationMD5Password.
#pragma once

#include "protocol/error.hpp"

#include <string>
#include <string_view>

namespace weir::protocol {

// "md5" and 32 lower-case hex digits: what pg_authid holds.
[[nodiscard]] bool is_md5_secret(std::string_view text) noexcept;
[[nodiscard]] result<std::string> make_md5_secret(std::string_view password, std::string_view user);

// What a client answers to the server's four bytes of salt. `secret` is in the form of pg_authid.
[[nodiscard]] result<std::string> md5_answer(std::string_view secret, std::string_view salt);

}  // namespace weir::protocol
