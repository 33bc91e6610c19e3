#include "proxy/client/classifier.hpp"

#include "metrics/probe.hpp"
#include "routing/own_setting.hpp"
#include "routing/sql_parser.hpp"

#include <algorithm>
#include <utility>

namespace weir::proxy::client {
namespace {

// ASCII without a backslash: every setting and every encoding reads it the same way.
bool is_plain(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return c != '\\' && static_cast<unsigned char>(c) < 0x80;
    });
}

}  // namespace

known_text classifier::unknown() {
    static const known_text nothing{
        {},
        std::make_shared<const routing::traits>(routing::unparsed_traits({})),
        {}};
    return nothing;
}

known_text classifier::classify(std::string_view text, bool standard_strings) {
    if ((!standard_strings && !is_plain(text)) || text.size() > max_parse_bytes_) {
        auto unseen = std::make_shared<const routing::traits>(
            routing::unparsed_traits(text.substr(0, max_parse_bytes_))
        );
        return {{}, std::move(unseen), {}};
    }
    const auto key = routing::scan(text);
    routing::route_override asked;
    if (key.hint.length != 0) {
        const auto hints = routing::parse_hints(text.substr(key.hint.offset, key.hint.length));
        asked = routing::override_of(hints);
    }
    if (auto found = cache_.find(key)) {
        probe_.trait_cache_hit();
        return {key, std::move(found), asked};
    }
    probe_.trait_cache_miss();
    auto parsed = routing::parse(text);
    auto kept = cache_.insert(key, std::move(parsed.value));
    probe_.trait_cache_size(cache_.bytes());
    return {key, std::move(kept), asked};
}

}  // namespace weir::proxy::client
