// Addresses of HTTP servers as the configuration has them.
#pragma once

#include <string>
#include <string_view>

namespace weir::migration::store {

struct url {
    bool tls = false;
    std::string host;  // a name or a numeric address, without brackets
    std::string port;
    std::string path;         // "/base" or empty; never ends in a slash
    std::string host_header;  // "host", with the port unless it is the scheme's own
    std::string address;      // "https://host:port", for messages
};

// "http://host", "https://host:8443/base", "http://[::1]:8000". Throws std::runtime_error for
// anything else; user names, queries and fragments are refused.
[[nodiscard]] url parse_url(std::string_view text);

// For a part of a path or a value of a query: all but letters, digits and "-._~" become "%XX" (RFC
// 3986 section 2.3).
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace weir::migration::store
