#include "migration/preflight.hpp"

#include "migration/census.hpp"
#include "migration/safekeeping.hpp"
#include "migration/server_facts.hpp"

#include <algorithm>
#include <exception>

namespace weir::migration {

namespace {

// Namespaces of tenants that are looked at; all have been made alike.
constexpr std::size_t most_namespaces = 3;
// What a document's version may have for its timeline: the next history begins above it.
constexpr std::uint32_t newest_timeline = 0x7FFFFFFF;

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

store_report store_of(
    const plan& what,
    const std::function<std::unique_ptr<store::store>(const plan&)>& open_store,
    std::optional<version> now,
    const std::function<void()>& between
) {
    try {
        const auto target = open_store(what);
        return store_checks(*target, what, now, between);
    } catch (const stopped&) {
        throw;
    } catch (const std::exception& error) {
        return {
            .checks = {{.name = "store", .result = verdict::refused, .text = error.what()}},
            .newest = {}};
    }
}

// It is there, so ensure() makes nothing: it compares dimensions and metric.
check layout_of(store::store& target, const plan& what, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < std::min(names.size(), most_namespaces); ++i) {
        if (const auto fits = target.ensure(names[i]); !fits) {
            return {
                .name = "store's layout",
                .result = verdict::refused,
                .text = names[i] + " does not fit: " + fits.error().text +
                        ". Nothing is ever dropped by itself: use another namespace, or remove "
                        "this one"};
        }
    }
    return {
        .name = "store's layout",
        .result = verdict::ok,
        .text = std::to_string(what.layout.dimensions) + " dimensions"};
}

check documents_of(const census& found, const version& now) {
    check made{.name = "store's documents", .result = verdict::refused, .text = {}};
    const auto count = std::to_string(found.documents) + " documents are there already";
    if (found.foreign > 0) {
        made.text =
            found.foreign_space + " has documents that pgweir has not written: " +
            "there is no telling whether a row is newer. Empty it, or use another namespace";
    } else if (found.newest && found.newest->timeline > newest_timeline) {
        made.text = count + ", with versions beyond all that can be given. Empty the namespaces";
    } else if (found.newest && *found.newest > now) {
        made.text =
            count + ", with versions up to " + to_text(*found.newest) + "; this server is at " +
            to_text(now) +
            ": they are of another history of the table, and its changes would lose against "
            "them. Empty the namespaces, or FORCE: then everything is written over them";
        made.may_be_forced = true;
    } else {
        made.result = verdict::warning;
        made.text = count +
                    "; those of rows that are no longer there stay until verify with repair "
                    "removes them";
    }
    return made;
}

}  // namespace

store_report store_checks(
    store::store& target,
    const plan& what,
    std::optional<version> now,
    const std::function<void()>& between
) {
    const auto refused = [](const std::string& text) {
        return store_report{
            .checks = {{.name = "store", .result = verdict::refused, .text = text}},
            .newest = {}};
    };
    const auto names = namespaces_of(target, what);
    if (!names) {
        return refused(names.error().text);
    }
    store_report report;
    report.checks.push_back(
        {.name = "store",
         .result = verdict::ok,
         .text = "answers; " + std::to_string(names->size()) + " of its namespaces are there"}
    );
    report.checks.push_back(layout_of(target, what, *names));
    if (report.checks.back().result != verdict::ok || !now) {
        return report;
    }
    const auto found = take_census(target, *names, between);
    if (!found) {
        return refused(found.error().text);
    }
    if (found->documents + found->foreign > 0) {
        report.checks.push_back(documents_of(*found, *now));
        report.newest = found->newest;
    }
    return report;
}

preflight_report preflight(
    sql_session& session,
    const source_address& where,
    const config::migration& intent,
    const std::function<std::unique_ptr<store::store>(const plan&)>& open_store,
    const std::function<void()>& between
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
        const auto& now = facts.facts.now;
        auto found = store_of(
            report.plan,
            open_store,
            facts.facts.under_way ? std::nullopt : std::optional(now),
            between
        );
        append(report.checks, std::move(found.checks));
        if (found.newest && *found.newest > now) {
            report.newer_document = found.newest;
        }
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
