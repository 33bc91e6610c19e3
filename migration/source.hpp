// From the YAML's intent and the live source to a plan, with everything that stands in its way.
#pragma once

#include "config/config.hpp"
#include "migration/check.hpp"
#include "migration/plan.hpp"
#include "migration/source_table.hpp"
#include "migration/sql.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weir::migration {

struct built_plan {
    migration::plan plan;
    // All refusals in one line, or why the server could not be asked; the plan means nothing then.
    std::optional<std::string> error;
    std::vector<check> checks;
};

// Asks the catalog; changes nothing.
[[nodiscard]] built_plan build_plan(sql_session& session, const config::migration& intent);

// The same from what the catalog has said. Pure. The parts of the plan that come from the intent
// alone are filled in even if something is refused.
[[nodiscard]] built_plan plan_for(const config::migration& intent, const source_table& table);

// "schema.table" of the configuration; the first dot parts them.
struct table_name {
    std::string schema;
    std::string table;
};

[[nodiscard]] table_name table_of(const config::migration& intent);

}  // namespace weir::migration
