// Networks in CIDR form. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace weir::config {

struct network {
    bool v6 = false;
    std::array<std::uint8_t, 16> bytes{};  // the first 4 for IPv4, network order
    std::uint32_t prefix = 0;              // bits that count

    // Whether every address in it is the machine's own: within 127.0.0.0/8 or ::1/128.
    [[nodiscard]] bool loopback() const;
};

// "10.0.0.0/8" or "fd00::/8"; the length is needed. Bits behind it are ignored, as in pg_hba.conf.
[[nodiscard]] std::optional<network> parse_network(const std::string& text);

// Whether the text is an IPv4 or IPv6 address.
[[nodiscard]] bool is_ip_address(const std::string& text);

}  // namespace weir::config
