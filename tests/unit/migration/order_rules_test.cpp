#include "migration/order_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace weir::migration {

TEST_SUITE_BEGIN("migration.order_rules");

TEST_CASE("every verb in every phase") {
    struct row {
        verb what;
        std::vector<phase> taken;
    };

    const row rows[] = {
        {verb::start, {phase::off, phase::failed}},
        {verb::pause, {phase::copying, phase::dual_writing, phase::resyncing}},
        {verb::resume,
         {phase::copying_paused,
          phase::dual_writing_paused,
          phase::resyncing_paused,
          phase::stale}},
        {verb::status, {}},
    };
    for (const auto& r : rows) {
        for (const auto now : all_phases) {
            CAPTURE(static_cast<int>(r.what));
            CAPTURE(to_string(now));
            const bool taken = std::find(r.taken.begin(), r.taken.end(), now) != r.taken.end();
            CHECK(refusal_of(r.what, now).has_value() == !taken);
        }
    }
    for (const auto now : all_phases) {
        CHECK(refusal_of(verb::remove, now).has_value() == (now == phase::off));
    }
    CHECK(refusal_of(verb::pause, phase::stale)->text == "pause does not go in phase stale");
    CHECK_FALSE(refusal_of(verb::pause, phase::stale)->done);
}

TEST_SUITE_END();

}  // namespace weir::migration
