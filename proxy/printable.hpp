// Text from a peer, made fit for a line of the log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::proxy {

// Without control characters, which could make a second line of it, and not longer than `most`
// bytes; "-" for nothing.
[[nodiscard]] inline std::string printable(std::string_view text, std::size_t most = 256) {
    std::string clean(text.substr(0, most));
    for (auto& c : clean) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F) {
            c = '?';
        }
    }
    return clean.empty() ? "-" : clean;
}

}  // namespace weir::proxy
