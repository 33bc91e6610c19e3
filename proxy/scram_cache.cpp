#include "proxy/scram_cache.hpp"

#include "protocol/byte_writer.hpp"

#include <vector>

namespace weir::proxy {
namespace {

protocol::result<protocol::sha256_digest>
digest_of(std::string_view password, std::string_view salt, std::uint32_t iterations) {
    std::vector<std::uint8_t> joined;
    joined.reserve(16 + password.size() + salt.size());
    protocol::byte_writer writer(joined);
    writer.u32(iterations);
    writer.u64(salt.size());
    writer.bytes(salt);
    writer.bytes(password);
    return protocol::sha256(joined);
}

}  // namespace

protocol::result<protocol::scram_keys>
scram_cache::keys(std::string_view password, std::string_view salt, std::uint32_t iterations) {
    const auto key = digest_of(password, salt, iterations);
    if (!key) {
        return key.error();
    }
    const auto found = known_.find(*key);
    if (found != known_.end()) {
        return found->second;
    }
    auto made = protocol::derive_keys(password, salt, iterations);
    if (!made) {
        return made.error();
    }
    if (known_.size() >= limit) {
        known_.erase(by_age_.front());
        by_age_.pop_front();
    }
    by_age_.push_back(*key);
    known_.emplace(*key, *made);
    return made;
}

}  // namespace weir::proxy
