#include "config/address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace weir::config {

bool network::loopback() const {
    if (!v6) {
        return bytes[0] == 127 && prefix >= 8;
    }
    const auto zero = std::all_of(bytes.begin(), bytes.end() - 1, [](auto b) { return b == 0; });
    return zero && bytes[15] == 1 && prefix == 128;
}

std::optional<network> parse_network(const std::string& text) {
    const auto slash = text.find('/');
    if (slash == std::string::npos) {
        return std::nullopt;
    }
    network found;
    const auto address = text.substr(0, slash);
    found.v6 = address.find(':') != std::string::npos;
    if (inet_pton(found.v6 ? AF_INET6 : AF_INET, address.c_str(), found.bytes.data()) != 1) {
        return std::nullopt;
    }
    const auto* const start = text.data() + slash + 1;
    const auto* const end = text.data() + text.size();
    const auto [rest, ec] = std::from_chars(start, end, found.prefix);
    if (ec != std::errc() || rest != end || found.prefix > (found.v6 ? 128U : 32U)) {
        return std::nullopt;
    }
    return found;
}

bool is_ip_address(const std::string& text) {
    return parse_network(text + "/0").has_value();
}

}  // namespace weir::config
