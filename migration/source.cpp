#include "migration/source.hpp"

#include "config/name_pattern.hpp"
#include "migration/source_rules.hpp"

#include <algorithm>

namespace weir::migration {

namespace {

store::metric metric_of(config::metric what) {
    switch (what) {
    case config::metric::cosine: return store::metric::cosine;
    case config::metric::l2: return store::metric::l2;
    case config::metric::inner_product: return store::metric::inner_product;
    }
    return store::metric::cosine;
}

// The names in the plan of the columns that are stored, the tenant always among them.
std::vector<std::string> attributes_of(const config::migration& intent) {
    auto names = intent.attributes;
    const auto known = std::find(names.begin(), names.end(), intent.tenant) != names.end();
    if (!intent.tenant.empty() && !known) {
        names.push_back(intent.tenant);
    }
    return names;
}

std::optional<std::size_t> index_of(const std::vector<std::string>& in, const std::string& name) {
    const auto found = std::find(in.begin(), in.end(), name);
    return found == in.end() ? std::nullopt
                             : std::optional(static_cast<std::size_t>(found - in.begin()));
}

plan from_intent(const config::migration& intent) {
    plan made;
    made.name = intent.name;
    made.schema = table_of(intent).schema;
    made.table = table_of(intent).table;
    made.embedding = intent.embedding;
    made.layout.metric = metric_of(intent.metric);
    made.capture =
        intent.capture == config::capture::wal ? capture_kind::wal : capture_kind::outbox;
    made.acknowledge = intent.acknowledge == config::acknowledge::async ? acknowledge_kind::async
                                                                        : acknowledge_kind::store;
    made.acknowledge_timeout = intent.acknowledge_timeout;
    made.max_retained_wal = intent.max_retained_wal;
    // The loader has refused a pattern that is none.
    const auto pattern = config::parse_name_pattern(intent.name_pattern);
    if (pattern) {
        made.name_of = {
            .before = pattern->before,
            .tenant = !pattern->column.empty(),
            .after = pattern->after};
    }
    if (!intent.tenant.empty()) {
        made.tenant = index_of(attributes_of(intent), intent.tenant);
        made.tenant_in_key = index_of(intent.key, intent.tenant);
    }
    return made;
}

void close(built_plan& made) {
    std::string refusals;
    for (const auto& one : made.checks) {
        if (one.result == verdict::refused) {
            refusals += (refusals.empty() ? "" : "; ") + one.text;
        }
    }
    if (!refusals.empty()) {
        made.error = std::move(refusals);
    }
}

}  // namespace

table_name table_of(const config::migration& intent) {
    const auto dot = intent.table.find('.');
    if (dot == std::string::npos) {
        return {.schema = "public", .table = intent.table};
    }
    return {.schema = intent.table.substr(0, dot), .table = intent.table.substr(dot + 1)};
}

built_plan plan_for(const config::migration& intent, const source_table& table) {
    built_plan made;
    made.plan = from_intent(intent);
    made.plan.table_oid = table.oid;
    made.plan.partitioned = table.kind == 'p';
    source_rules rules(intent, table, made.checks);
    rules.check_table();
    rules.find_columns(intent.key, "key", made.plan.layout.key);
    rules.find_columns(attributes_of(intent), "attributes", made.plan.layout.attributes);
    rules.find_embedding(made.plan.layout);
    rules.check_key();
    rules.check_identity();
    rules.check_tenant();
    rules.check_metric();
    close(made);
    return made;
}

built_plan build_plan(sql_session& session, const config::migration& intent) {
    const auto name = table_of(intent);
    const auto found = read_table(session, name.schema, name.table, intent.embedding);
    if (found.table) {
        return plan_for(intent, *found.table);
    }
    built_plan made;
    made.plan = from_intent(intent);
    made.checks.push_back(
        {.name = "table",
         .result = verdict::refused,
         .text = found.error ? found.error->text
                             : "there is no table " + intent.table +
                                   "; it is written as in the catalog, without quotes"}
    );
    close(made);
    return made;
}

}  // namespace weir::migration
