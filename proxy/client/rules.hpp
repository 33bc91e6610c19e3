// Which authentication rule is for a client. Pure.
#pragma once

#include "config/config.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace weir::proxy::client {

struct candidate {
    std::string_view database;
    std::string_view user;
    std::string ip;      // numeric; an IPv4 address in IPv6 form counts as IPv4
    bool local = false;  // came over the Unix socket
};

// The first rule that fits, as in pg_hba.conf; none: refused. Without any rules everybody uses
// SCRAM-SHA-256. A rule whose address cannot be read rejects everybody whom its names fit, since
// nobody knows whom it was meant to keep out.
[[nodiscard]] std::optional<config::auth_method>
find_method(const config::authentication& from, const candidate& who);

// "all" is everybody, "local" the Unix socket, anything else a network or one address.
// nullopt when it cannot be read.
[[nodiscard]] std::optional<bool>
address_fits(const std::string& rule_address, const candidate& who);

}  // namespace weir::proxy::client
