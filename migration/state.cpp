#include "migration/state.hpp"

#include <algorithm>

namespace weir::migration {

namespace {

bool leads_on(phase from, phase to) {
    switch (from) {
    case phase::off: return to == phase::preparing;
    case phase::preparing: return to == phase::copying;
    case phase::copying:
        return to == phase::dual_writing || to == phase::copying_paused || to == phase::stale;
    case phase::copying_paused: return to == phase::copying || to == phase::stale;
    case phase::dual_writing:
        return to == phase::dual_writing_paused || to == phase::stale || to == phase::resyncing;
    case phase::dual_writing_paused: return to == phase::dual_writing || to == phase::stale;
    case phase::stale: return to == phase::resyncing;
    case phase::resyncing:
        return to == phase::dual_writing || to == phase::resyncing_paused || to == phase::stale;
    case phase::resyncing_paused: return to == phase::resyncing || to == phase::stale;
    case phase::failed: return to == phase::preparing;
    case phase::removing: return to == phase::off;
    }
    return false;
}

}  // namespace

bool may_follow(phase from, phase to) {
    const auto at_work = from != phase::off && from != phase::removing && from != to;
    if (at_work && (to == phase::failed || to == phase::removing)) {
        return true;
    }
    return leads_on(from, to);
}

std::string_view to_string(phase what) {
    switch (what) {
    case phase::off: return "off";
    case phase::preparing: return "preparing";
    case phase::copying: return "copying";
    case phase::copying_paused: return "copying_paused";
    case phase::dual_writing: return "dual_writing";
    case phase::dual_writing_paused: return "dual_writing_paused";
    case phase::stale: return "stale";
    case phase::resyncing: return "resyncing";
    case phase::resyncing_paused: return "resyncing_paused";
    case phase::failed: return "failed";
    case phase::removing: return "removing";
    }
    return "unknown";
}

std::optional<phase> parse_phase(std::string_view text) {
    const auto* const found = std::find_if(all_phases.begin(), all_phases.end(), [&](phase one) {
        return to_string(one) == text;
    });
    return found == all_phases.end() ? std::nullopt : std::optional(*found);
}

bool streams(phase what) {
    return what == phase::copying || what == phase::dual_writing || what == phase::resyncing;
}

bool is_paused(phase what) {
    return resumed(what).has_value();
}

std::optional<phase> paused(phase what) {
    switch (what) {
    case phase::copying: return phase::copying_paused;
    case phase::dual_writing: return phase::dual_writing_paused;
    case phase::resyncing: return phase::resyncing_paused;
    default: return std::nullopt;
    }
}

std::optional<phase> resumed(phase what) {
    switch (what) {
    case phase::copying_paused: return phase::copying;
    case phase::dual_writing_paused: return phase::dual_writing;
    case phase::resyncing_paused: return phase::resyncing;
    default: return std::nullopt;
    }
}

}  // namespace weir::migration
