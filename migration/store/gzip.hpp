// Bodies of requests in the gzip format (RFC 1952).
#pragma once

#include <string>
#include <string_view>

namespace weir::migration::store {

[[nodiscard]] std::string gzip(std::string_view what);

}  // namespace weir::migration::store
