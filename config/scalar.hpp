// One text of a YAML file as the value of a key. Pure.
#pragma once

#include "config/schema.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weir::config {

struct conversion {
    std::optional<key_value> result;
    std::string expected;        // without a result; the caller says what was found
    std::string hint;            // "; did you mean 'x'?", or nothing. Quotes the text.
    bool not_available = false;  // the value exists, its feature is not built yet
};

// For every type that a plain text can hold, which is all but settings, block, list, map and later.
// file and directory are returned as they are.
[[nodiscard]] conversion convert(const key& k, const std::string& text);

// The bound of {bounded: 5s}.
[[nodiscard]] conversion convert_bound(const key& k, const std::string& text);

struct host_port {
    std::string host;  // without the brackets of an IPv6 address
    std::uint16_t port = 0;
};

// "host:port" or "[address]:port".
[[nodiscard]] std::optional<host_port> parse_host_port(std::string_view text);

// The other way, with brackets where the host has colons.
[[nodiscard]] std::string print_host_port(const std::string& host, std::uint16_t port);

}  // namespace weir::config
