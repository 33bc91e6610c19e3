// SCRAM keys that were derived before. Deriving them costs milliseconds of the worker's time, so a
// password is paid for once per salt and not once per log-in; clients and servers share the cache.
// Belongs to one worker's thread.
#pragma once

#include "protocol/crypto.hpp"
#include "protocol/scram_keys.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>

namespace weir::proxy {

class scram_cache {
public:
    // At about 200 bytes each. The oldest one goes when it is full.
    static constexpr std::size_t limit = 4096;

    // Errors are those of protocol::derive_keys; they are not remembered.
    [[nodiscard]] protocol::result<protocol::scram_keys>
    keys(std::string_view password, std::string_view salt, std::uint32_t iterations);

    [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

private:
    // Known by a digest, so that no password is kept here.
    std::map<protocol::sha256_digest, protocol::scram_keys> known_;
    std::deque<protocol::sha256_digest> by_age_;
};

}  // namespace weir::proxy
