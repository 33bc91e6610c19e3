// One finding about whether a migration can start.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration {

enum class verdict : std::uint8_t { ok, warning, refused };

struct check {
    std::string name;  // short, of what was looked at: "wal_level", "replica identity"
    verdict result = verdict::ok;
    std::string text;            // what was found and, unless it is ok, what to do
    bool may_be_forced = false;  // of `refused`: START … FORCE goes on all the same
};

[[nodiscard]] constexpr std::string_view to_string(verdict what) {
    switch (what) {
    case verdict::ok: return "ok";
    case verdict::warning: return "warning";
    case verdict::refused: return "refused";
    }
    return {};
}

// Whether START may go on.
[[nodiscard]] inline bool passes(const std::vector<check>& checks, bool forced = false) {
    for (const auto& one : checks) {
        if (one.result == verdict::refused && !(forced && one.may_be_forced)) {
            return false;
        }
    }
    return true;
}

}  // namespace weir::migration
