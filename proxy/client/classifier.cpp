#include "proxy/client/classifier.hpp"

#include "metrics/probe.hpp"
#include "routing/sql_parser.hpp"

#include <utility>

namespace weir::proxy::client {

known_text classifier::unknown() {
    static const known_text nothing{{}, std::make_shared<const routing::traits>(routing::unparsed_traits({}))};
    return nothing;
}

known_text classifier::classify(std::string_view text, bool standard_strings) {
    if (!standard_strings || text.size() > max_parse_bytes_) {
        return {{}, std::make_shared<const routing::traits>(routing::unparsed_traits(text.substr(0, max_parse_bytes_)))};
    }
    const auto key = routing::scan(text);
    if (auto found = cache_.find(key)) {
        probe_.trait_cache_hit();
        return {key, std::move(found)};
    }
    probe_.trait_cache_miss();
    auto parsed = routing::parse(text);
    auto kept = cache_.insert(key, std::move(parsed.value));
    probe_.trait_cache_size(cache_.bytes());
    return {key, std::move(kept)};
}

}  // namespace weir::proxy::client
