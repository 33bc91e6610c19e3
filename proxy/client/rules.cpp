#include "proxy/client/rules.hpp"

#include "config/address.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weir::proxy::client {
namespace {

constexpr std::string_view everybody = "all";

bool names_fit(const std::vector<std::string>& names, std::string_view name) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& each) {
        return each == everybody || each == name;
    });
}

// A network, or one address as the network that holds nothing else.
std::optional<config::network> read_network(const std::string& text) {
    if (text.find('/') != std::string::npos) {
        return config::parse_network(text);
    }
    return config::parse_network(text + (text.find(':') == std::string::npos ? "/32" : "/128"));
}

// ::ffff:10.0.0.1 is what a listener on [::] sees of the IPv4 client 10.0.0.1.
std::optional<config::network> read_peer(const std::string& ip) {
    constexpr std::size_t mapped_prefix = 12;
    auto peer =
        read_network(ip.substr(0, ip.find('%')));  // without the zone of a link-local address
    if (!peer || !peer->v6) {
        return peer;
    }
    const auto zeros = peer->bytes.begin() + mapped_prefix - 2;
    const bool mapped =
        std::all_of(peer->bytes.begin(), zeros, [](auto byte) { return byte == 0; }) &&
        zeros[0] == 0xFF && zeros[1] == 0xFF;
    if (mapped) {
        std::copy(peer->bytes.begin() + mapped_prefix, peer->bytes.end(), peer->bytes.begin());
        peer->v6 = false;
        peer->prefix = 32;
    }
    return peer;
}

bool contains(const config::network& outer, const config::network& address) {
    if (outer.v6 != address.v6) {
        return false;
    }
    for (std::uint32_t bit = 0; bit < outer.prefix; ++bit) {
        const auto mask = 0x80U >> (bit % 8);
        if (((outer.bytes[bit / 8] ^ address.bytes[bit / 8]) & mask) != 0) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::optional<bool> address_fits(const std::string& rule_address, const candidate& who) {
    if (rule_address == everybody) {
        return true;
    }
    if (rule_address == "local") {
        return who.local;
    }
    const auto network = read_network(rule_address);
    if (!network) {
        return std::nullopt;
    }
    if (who.local) {
        return false;
    }
    const auto peer = read_peer(who.ip);
    return peer && contains(*network, *peer);
}

std::optional<config::auth_method>
find_method(const config::authentication& from, const candidate& who) {
    if (from.rules.empty()) {
        return config::auth_method::scram_sha_256;
    }
    for (const auto& rule : from.rules) {
        if (!names_fit(rule.databases, who.database) || !names_fit(rule.users, who.user)) {
            continue;
        }
        const auto fits = address_fits(rule.address, who);
        if (!fits) {
            return config::auth_method::reject;
        }
        if (*fits) {
            return rule.method;
        }
    }
    return std::nullopt;
}

}  // namespace weir::proxy::client
