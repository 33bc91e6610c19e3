#include "migration/preflight.hpp"

#include "migration/server_facts.hpp"

#include <algorithm>
#include <exception>

namespace weir::migration {

namespace {

// Namespaces of tenants that are looked at; all have been made alike.
constexpr std::size_t most_namespaces = 3;

void append(std::vector<check>& to, std::vector<check>&& more) {
    to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// pg_hba.conf has a line of its own for replication only for physical connections; but an address
// may be a pooler's, which takes none at all.
check replication_connection(const source_address& where) {
    const std::string name = "replication connection";
    sql_session session;
    auto failed = session.connect(where, true);
    if (!failed) {
        failed = session.run("IDENTIFY_SYSTEM").error;
    }
    if (failed) {
        return {
            .name = name,
            .result = verdict::refused,
            .text = failed->text +
                    ": the role needs REPLICATION, pg_hba.conf a line for it, and "
                    "the server's own address, not a pooler's"};
    }
    return {.name = name, .result = verdict::ok, .text = session.address()};
}

std::vector<check> store_of(
    const plan& what,
    const std::function<std::unique_ptr<store::store>(const plan&)>& open_store
) {
    try {
        const auto target = open_store(what);
        return store_checks(*target, what);
    } catch (const std::exception& error) {
        return {{.name = "store", .result = verdict::refused, .text = error.what()}};
    }
}

bool belongs(const plan& what, const std::string& name) {
    if (!what.name_of.tenant) {
        return name == what.name_of.before;
    }
    return name.size() >= what.name_of.before.size() + what.name_of.after.size() &&
           name.ends_with(what.name_of.after);
}

}  // namespace

std::vector<check> store_checks(store::store& target, const plan& what) {
    auto found = target.namespaces(what.name_of.before);
    if (!found) {
        return {{.name = "store", .result = verdict::refused, .text = found.error().text}};
    }
    auto& names = *found;
    std::erase_if(names, [&](const std::string& name) { return !belongs(what, name); });
    std::vector<check> checks{
        {.name = "store",
         .result = verdict::ok,
         .text = "answers; " + std::to_string(names.size()) + " of its namespaces are there"}};
    std::uint64_t documents = 0;
    for (std::size_t i = 0; i < std::min(names.size(), most_namespaces); ++i) {
        // It is there, so this makes nothing: it compares dimensions and metric.
        const auto fits = target.ensure(names[i]);
        if (!fits) {
            checks.push_back(
                {.name = "store's layout",
                 .result = verdict::refused,
                 .text = names[i] + " does not fit: " + fits.error().text +
                         ". Nothing is ever dropped by itself: use another namespace, or remove "
                         "this one"}
            );
            return checks;
        }
        const auto count = target.count(names[i]);
        documents += count ? *count : 0;
    }
    checks.push_back(
        {.name = "store's layout",
         .result = verdict::ok,
         .text = std::to_string(what.layout.dimensions) + " dimensions"}
    );
    if (documents > 0) {
        checks.push_back(
            {.name = "store's documents",
             .result = verdict::warning,
             .text = "there are documents already; those of rows that are no longer there stay "
                     "until verify with repair removes them"}
        );
    }
    return checks;
}

preflight_report preflight(
    sql_session& session,
    const source_address& where,
    const config::migration& intent,
    const std::function<std::unique_ptr<store::store>(const plan&)>& open_store
) {
    preflight_report report;
    auto built = build_plan(session, intent);
    report.plan = std::move(built.plan);
    const auto facts = read_facts(session, report.plan);
    if (facts.error) {
        report.checks.push_back(
            {.name = "server", .result = verdict::refused, .text = facts.error->text}
        );
        return report;
    }
    report.checks = server_checks(facts.facts, intent);
    if (intent.capture == config::capture::wal && facts.facts.may_replicate) {
        report.checks.push_back(replication_connection(where));
    }
    const auto plan_is_good = !built.error.has_value();
    append(report.checks, std::move(built.checks));
    if (plan_is_good) {
        append(report.checks, store_of(report.plan, open_store));
    }
    return report;
}

std::string grant_script(const config::migration& intent, const std::string& server_database) {
    const auto name = table_of(intent);
    const auto role = quoted_name(intent.user);
    const auto table = quoted_name(name.schema) + "." + quoted_name(name.table);
    const auto wal = intent.capture == config::capture::wal;
    std::string script = "-- As a superuser, in psql, in database " + server_database + "\n";
    script += "CREATE ROLE " + role + " LOGIN" + (wal ? " REPLICATION" : "") + ";\n";
    script += "\\password " + role + "\n";
    script += "GRANT CONNECT ON DATABASE " + quoted_name(server_database) + " TO " + role + ";\n";
    script += "GRANT USAGE ON SCHEMA " + quoted_name(name.schema) + " TO " + role + ";\n";
    script += "GRANT SELECT" + std::string(wal ? "" : ", TRIGGER") + " ON " + table + " TO " +
              role + ";\n";
    script += "CREATE SCHEMA pgweir AUTHORIZATION " + role + ";\n";
    if (wal) {
        script += "CREATE PUBLICATION " + quoted_name(object_name(intent.name)) + " FOR TABLE " +
                  table + " WITH (publish_via_partition_root = false);\n";
    }
    return script;
}

}  // namespace weir::migration
