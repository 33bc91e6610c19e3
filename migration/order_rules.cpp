#include "migration/order_rules.hpp"

namespace weir::migration {
namespace {

reply not_in(phase now, const char* verb) {
    return refused(std::string(verb) + " does not go in phase " + std::string(to_string(now)));
}

}  // namespace

std::optional<reply> refusal_of(verb what, phase now) {
    switch (what) {
    case verb::start:
        if (now != phase::off && now != phase::failed) {
            return refused(
                "the migration has been started: phase " + std::string(to_string(now)),
                "MIGRATE STATUS tells how it goes."
            );
        }
        return std::nullopt;
    case verb::pause: return paused(now) ? std::nullopt : std::optional(not_in(now, "pause"));
    case verb::resume:
        return resumed(now) || now == phase::stale ? std::nullopt
                                                   : std::optional(not_in(now, "resume"));
    case verb::remove:
        return now != phase::off
                   ? std::nullopt
                   : std::optional(refused("the migration is off: there is nothing to remove"));
    default: return refused("not a command that changes the phase");
    }
}

}  // namespace weir::migration
