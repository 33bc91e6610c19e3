#include "migration/server_facts.hpp"

#include "migration/slot.hpp"
#include "routing/position.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <span>

namespace weir::migration {

namespace {

using parameter = std::optional<std::string>;

template <typename Number>
Number number_of(std::string_view digits) {
    Number number{};
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

class fact_reader {
public:
    fact_reader(sql_session& session, const plan& what, server_facts& facts)
        : session_(session), plan_(what), facts_(facts) {}

    // Settings that a server does not know read as NULL.
    void read_server() {
        const auto rows =
            ask("SELECT current_setting('server_version_num'), pg_is_in_recovery(), "
                "current_setting('wal_level'), current_setting('max_replication_slots'), (SELECT "
                "count(*) FROM pg_replication_slots), current_setting('max_wal_senders'), (SELECT "
                "count(*) FROM pg_stat_replication), (SELECT setting FROM pg_settings WHERE name = "
                "'max_slot_wal_keep_size'), current_setting('synchronous_standby_names'), "
                "current_setting('synchronized_standby_slots', true), "
                "current_setting('idle_replication_slot_timeout', true)",
                {});
        if (rows.size() != 1) {
            return;
        }
        constexpr std::int64_t mib = 1LL << 20;
        facts_.version = number_of<int>(rows.at(0, 0));
        facts_.standby = rows.at(0, 1) == "t";
        facts_.wal_level = rows.at(0, 2);
        facts_.slots = number_of<int>(rows.at(0, 3));
        facts_.slots_used = number_of<int>(rows.at(0, 4));
        facts_.senders = number_of<int>(rows.at(0, 5));
        facts_.senders_used = number_of<int>(rows.at(0, 6));
        const auto keep = number_of<std::int64_t>(rows.at(0, 7));
        facts_.keep_size = keep < 0 ? -1 : keep * mib;
        facts_.synchronous_standbys = rows.at(0, 8);
        facts_.synchronized_slots = rows.at(0, 9);
        facts_.idle_slot_timeout = rows.at(0, 10);
    }

    void read_rights() {
        const std::array<parameter, 1> parameters = {std::to_string(plan_.table_oid)};
        const auto rows =
            ask("SELECT current_user, rolreplication OR rolsuper, rolsuper, "
                "has_database_privilege(current_database(), 'CREATE'), coalesce((SELECT "
                "pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = $1::oid), false), "
                "coalesce((SELECT has_table_privilege(oid, 'TRIGGER') FROM pg_class WHERE oid = "
                "$1::oid), false), to_regnamespace('pgweir') IS NOT NULL, coalesce((SELECT "
                "has_schema_privilege(oid, 'CREATE') AND has_schema_privilege(oid, 'USAGE') FROM "
                "pg_namespace WHERE nspname = 'pgweir'), false) FROM pg_roles WHERE rolname = "
                "current_user",
                parameters);
        if (rows.size() != 1) {
            return;
        }
        facts_.role = rows.at(0, 0);
        facts_.may_replicate = rows.at(0, 1) == "t";
        facts_.superuser = rows.at(0, 2) == "t";
        facts_.may_create = rows.at(0, 3) == "t";
        facts_.owns_table = rows.at(0, 4) == "t";
        facts_.may_trigger = rows.at(0, 5) == "t";
        facts_.has_schema = rows.at(0, 6) == "t";
        facts_.may_use_schema = rows.at(0, 7) == "t";
    }

    void read_journal() {
        if (!facts_.may_use_schema) {
            return;
        }
        const auto there = ask("SELECT to_regclass('pgweir.migration') IS NOT NULL", {});
        if (there.size() != 1 || there.at(0, 0) != "t") {
            return;
        }
        const std::array<parameter, 1> parameters = {plan_.name};
        const auto rows = ask(
            "SELECT (SELECT version FROM pgweir.meta), m.name IS NOT NULL, m.phase <> 'failed', "
            "to_jsonb(m)->>'history' FROM (SELECT) AS one LEFT JOIN pgweir.migration AS m ON "
            "m.name "
            "= $1",
            parameters
        );
        if (rows.size() == 1) {
            facts_.journal_made_by = rows.at(0, 0);
            facts_.slot_in_journal = rows.at(0, 1) == "t";
            facts_.under_way = rows.at(0, 2) == "t";
            facts_.now.timeline += number_of<std::uint32_t>(rows.at(0, 3));
        }
    }

    void read_position() {
        if (error || facts_.standby) {
            return;
        }
        const auto rows =
            ask("SELECT ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), "
                "8))::bit(32)::bigint, pg_current_wal_insert_lsn()",
                {});
        if (rows.size() == 1) {
            facts_.now.timeline += number_of<std::uint32_t>(rows.at(0, 0));
            facts_.now.lsn = routing::parse_lsn(rows.at(0, 1)).value_or(routing::lsn{}).value;
            // A repair has the last one.
            facts_.now.ordinal = std::numeric_limits<std::uint32_t>::max();
        }
    }

    void read_objects() {
        if (error || facts_.standby) {
            return;
        }
        const auto slot = read_slot(session_, object_name(plan_.name));
        facts_.slot = slot.slot;
        error = slot.error;
        if (!error) {
            facts_.publication = find_publication(session_, plan_);
            error = facts_.publication.error;
        }
    }

    // All databases: a slot's snapshot is built for the whole server.
    void read_transactions() {
        const auto rows = ask(
            "SELECT concat('pid ', pid, ' (', concat_ws(', ', usename, datname, "
            "nullif(application_name, '')), ')'), extract(epoch FROM clock_timestamp() - "
            "xact_start)::bigint, false FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND "
            "pid <> pg_backend_pid() UNION ALL SELECT concat('prepared transaction ', gid, ' (', "
            "owner, ', ', database, ')'), extract(epoch FROM clock_timestamp() - "
            "prepared)::bigint, true FROM pg_prepared_xacts ORDER BY 2 DESC NULLS LAST LIMIT 100",
            {}
        );
        for (int row = 0; row < rows.size(); ++row) {
            running_transaction one{.name = std::string(rows.at(row, 0)), .seconds = {}};
            if (!rows.is_null(row, 1)) {
                one.seconds = number_of<std::int64_t>(rows.at(row, 1));
            }
            one.prepared = rows.at(row, 2) == "t";
            facts_.transactions.push_back(std::move(one));
        }
    }

    std::optional<sql_error> error;

private:
    sql_rows ask(const std::string& query, std::span<const parameter> parameters) {
        if (error) {
            return {};
        }
        auto answer = session_.run(query, parameters);
        error = answer.error;
        return std::move(answer.rows);
    }

    sql_session& session_;
    const plan& plan_;
    server_facts& facts_;
};

}  // namespace

facts_answer read_facts(sql_session& session, const plan& what) {
    facts_answer found;
    fact_reader all(session, what, found.facts);
    all.read_server();
    all.read_rights();
    all.read_journal();
    all.read_position();
    all.read_objects();
    all.read_transactions();
    found.error = all.error;
    return found;
}

}  // namespace weir::migration
