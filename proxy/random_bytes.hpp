// Random bytes for salts, nonces and keys, from OpenSSL's generator. Any thread.
#pragma once

#include "protocol/error.hpp"

#include <openssl/rand.h>

#include <cstddef>
#include <string>

namespace weir::proxy {

// protocol::errc::crypto when the generator has nothing to give; what needed them must then fail.
[[nodiscard]] inline protocol::result<std::string> random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) {
        return protocol::errc::crypto;
    }
    return bytes;
}

}  // namespace weir::proxy
