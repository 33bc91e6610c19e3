// What a password becomes before SCRAM derives keys from it.
// Source: RFC 4013 (SASLprep), RFC 3454; where these leave a choice, PostgreSQL's.
#pragma once

#include <string>
#include <string_view>

namespace weir::protocol {

// Complete for Unicode 3.2, which SASLprep is defined by: mapping, normal form KC, prohibited and
// unassigned code points, text direction. A password that SASLprep refuses, or that is not UTF-8,
// is used as it is, on both sides of PostgreSQL and here.
[[nodiscard]] std::string prepare_password(std::string_view password);

}  // namespace weir::protocol
