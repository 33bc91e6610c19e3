// From a text to what is known of it: shape scan, trait cache, full parse on a miss. One per
// worker.
#pragma once

#include "proxy/client/statements.hpp"
#include "routing/trait_cache.hpp"

#include <cstdint>
#include <string_view>

namespace weir::metrics {
class worker_probe;
}

namespace weir::proxy::client {

class classifier {
public:
    classifier(std::size_t cache_bytes, std::uint32_t max_parse_bytes, metrics::worker_probe& probe)
        : cache_(cache_bytes), max_parse_bytes_(max_parse_bytes), probe_(probe) {}

    // `standard_strings`: standard_conforming_strings is on and the client's encoding is one whose
    // ASCII bytes are always characters; else the borders of tokens may not be what they seem, and
    // only a text counts as parsed that is plain.
    [[nodiscard]] known_text classify(std::string_view text, bool standard_strings);

    // What a text that is not looked at counts as.
    [[nodiscard]] static known_text unknown();

private:
    routing::trait_cache cache_;
    std::uint32_t max_parse_bytes_;
    metrics::worker_probe& probe_;
};

}  // namespace weir::proxy::client
