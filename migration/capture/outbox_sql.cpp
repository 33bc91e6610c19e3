#include "migration/capture/outbox_sql.hpp"

#include <array>
#include <vector>

namespace weir::migration {
namespace {

// Types of the outbox's columns, wide enough for a later ALTER TYPE of the same kind. Domains count
// as their base types: a NULL must always fit. Enumerations become text.
constexpr const char* types_question = R"(
WITH RECURSIVE base(number, type) AS (
    SELECT w.number, a.atttypid
      FROM unnest($2::text[]) WITH ORDINALITY AS w(name, number)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = $1::oid AND a.attname = w.name
  UNION ALL
    SELECT b.number, t.typbasetype
      FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.type WHERE t.typtype = 'd')
SELECT CASE
         WHEN t.oid IN (20, 21, 23) THEN 'bigint'
         WHEN t.oid IN (700, 701) THEN 'double precision'
         WHEN t.oid IN (16, 1042, 1082, 1114, 1184, 1700, 2950, 3802)
           THEN 'pg_catalog.' || t.typname
         ELSE 'text' END
  FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.type
 WHERE t.typtype <> 'd' ORDER BY b.number)";

// The table, then every leaf below it, quoted.
constexpr const char* members_question = R"(
SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),
       pg_catalog.pg_has_role(c.relowner, 'MEMBER')
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.oid = $1::oid
    OR c.oid IN (SELECT relid FROM pg_catalog.pg_partition_tree($1::oid::regclass) WHERE isleaf)
 ORDER BY c.oid = $1::oid DESC)";

// The sequence of the identity column.
constexpr const char* first_id_question = R"(
SELECT s.seqstart
  FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_sequence s ON s.seqrelid = d.objid
 WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.refclassid = d.classid
   AND d.refobjid = pg_catalog.to_regclass($1) AND d.deptype = 'i')";

constexpr const char* triggers_question = R"(
SELECT pg_catalog.quote_ident(t.tgname),
       pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
  FROM pg_catalog.pg_trigger t
  JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE t.tgfoid = pg_catalog.to_regprocedure($1) AND t.tgparentid = 0)";

struct member {
    std::string name;
    bool owned = false;
};

std::string function_name(const std::string& migration) {
    return "pgweir." + quoted_name("capture_" + migration);
}

std::string table_name(const std::string& migration) {
    return "pgweir." + quoted_name("outbox_" + migration);
}

std::string row_trigger(const plan& what) {
    return "pgweir_" + what.name;
}

std::string truncate_trigger(const plan& what) {
    return "pgweir_" + what.name + "_truncate";
}

std::string tenant_column(const plan& what) {
    return what.tenant ? what.layout.attributes[*what.tenant].name : std::string();
}

// `types`: of the key's columns, then of the tenant.
std::string
create_table(const plan& what, const std::vector<std::string>& types, std::uint64_t first) {
    const auto keys = what.layout.key.size();
    std::string columns = "id bigint GENERATED ALWAYS AS IDENTITY (START WITH " +
                          std::to_string(first) +
                          " CACHE 1) PRIMARY KEY, xid xid8 NOT NULL,"
                          " relid oid NOT NULL, operation \"char\" NOT NULL";
    for (const auto* prefix : {"new_", "old_"}) {
        for (std::size_t i = 0; i < keys; ++i) {
            columns += std::string(", ") + prefix + std::to_string(i + 1) + ' ' + types[i];
        }
    }
    if (what.tenant) {
        columns += ", old_tenant " + types[keys];
    }
    return "CREATE TABLE IF NOT EXISTS " + outbox_table(what) + " (" + columns + ");\n";
}

// One INSERT of the trigger function.
std::string note(const plan& what, char operation, bool has_new, bool has_old) {
    std::string columns = "xid, relid, operation";
    std::string values = std::string("pg_current_xact_id(), TG_RELID, '") + operation + '\'';
    for (std::size_t i = 0; i < what.layout.key.size(); ++i) {
        const auto number = std::to_string(i + 1);
        const auto name = quoted_name(what.layout.key[i].name);
        if (has_new) {
            columns += ", new_" + number;
            values += ", NEW." + name;
        }
        if (has_old) {
            columns += ", old_" + number;
            values += ", OLD." + name;
        }
    }
    if (has_old && what.tenant) {
        columns += ", old_tenant";
        values += ", OLD." + quoted_name(tenant_column(what));
    }
    return "INSERT INTO " + outbox_table(what) + " (" + columns + ") VALUES (" + values + ");\n";
}

std::string create_function(const plan& what) {
    const auto body = "BEGIN\nIF TG_OP = 'INSERT' THEN " + note(what, 'i', true, false) +
                      "ELSIF TG_OP = 'UPDATE' THEN " + note(what, 'u', true, true) +
                      "ELSIF TG_OP = 'DELETE' THEN " + note(what, 'd', false, true) + "ELSE " +
                      note(what, 't', false, false) + "END IF;\nRETURN NULL;\nEND";
    return "CREATE OR REPLACE FUNCTION " + function_name(what.name) +
           "() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER"
           " SET search_path = pg_catalog, pg_temp AS" +
           quoted_text(body) + ";\n";
}

// A statement that is carried out if the question has an answer, or if it has none. What is done
// already must not ask for the table's lock again.
std::string only(const char* when, const std::string& question, const std::string& statement) {
    return "DO" +
           quoted_text(
               std::string("BEGIN IF ") + when + " (" + question + ") THEN " + statement +
               "; END IF; END"
           ) +
           ";\n";
}

std::string trigger_of(const std::string& name, const std::string& table) {
    return "SELECT FROM pg_catalog.pg_trigger WHERE tgrelid =" + quoted_text(table) +
           "::regclass AND tgname =" + quoted_text(name);
}

std::string
create_trigger(const std::string& name, const std::string& table, const std::string& rest) {
    return only(
        "NOT EXISTS",
        trigger_of(name, table),
        "CREATE TRIGGER " + quoted_name(name) + rest
    );
}

// Fires whatever session_replication_role is.
std::string always(const std::string& table, const std::string& trigger) {
    return only(
        "EXISTS",
        trigger_of(trigger, table) + " AND tgenabled <> 'A'",
        "ALTER TABLE " + table + " ENABLE ALWAYS TRIGGER " + quoted_name(trigger)
    );
}

std::string create_triggers(const plan& what, const std::vector<member>& members) {
    const auto call = " EXECUTE FUNCTION " + function_name(what.name) + "()";
    auto text = create_trigger(
        row_trigger(what),
        members.front().name,
        " AFTER INSERT OR UPDATE OR DELETE ON " + members.front().name + " FOR EACH ROW" + call
    );
    for (const auto& each : members) {
        text += create_trigger(
            truncate_trigger(what),
            each.name,
            " AFTER TRUNCATE ON " + each.name + " FOR EACH STATEMENT" + call
        );
        if (each.owned) {
            text +=
                always(each.name, row_trigger(what)) + always(each.name, truncate_trigger(what));
        }
    }
    return text;
}

sql_answer types_of(sql_session& on, const plan& what) {
    std::vector<std::string> names;
    for (const auto& column : what.layout.key) {
        names.push_back(column.name);
    }
    if (what.tenant) {
        names.push_back(tenant_column(what));
    }
    const std::array<std::optional<std::string>, 2> parameters = {
        std::to_string(what.table_oid),
        text_array(names)};
    return on.run(types_question, parameters);
}

sql_answer members_of(sql_session& on, const plan& what) {
    const std::array<std::optional<std::string>, 1> parameters = {std::to_string(what.table_oid)};
    return on.run(members_question, parameters);
}

std::optional<sql_error> in_transaction(sql_session& on, const std::string& text) {
    auto done = on.run("BEGIN; SET LOCAL lock_timeout = '3s';\n" + text + "COMMIT");
    if (!done && on.connected()) {
        (void)on.run("ROLLBACK");
    }
    return done.error;
}

}  // namespace

std::string outbox_table(const plan& what) {
    return table_name(what.name);
}

outbox_answer first_outbox_id(sql_session& on, const plan& what) {
    const std::array<std::optional<std::string>, 1> parameters = {outbox_table(what)};
    const auto answer = on.run(first_id_question, parameters);
    if (!answer) {
        return {.id = {}, .error = answer.error};
    }
    if (answer.rows.size() == 0) {
        return {};
    }
    return {.id = std::stoull(std::string(answer.rows.at(0, 0))), .error = {}};
}

std::optional<sql_error> install_outbox(sql_session& on, const plan& what, std::uint64_t first) {
    const auto types = types_of(on, what);
    const auto found = members_of(on, what);
    if (!types || !found) {
        return types ? found.error : types.error;
    }
    const auto wanted = what.layout.key.size() + (what.tenant ? 1 : 0);
    if (found.rows.size() == 0 || static_cast<std::size_t>(types.rows.size()) != wanted) {
        return sql_error{"42P01", on.address() + ": the table, a key column or the tenant is gone"};
    }
    std::vector<std::string> names;
    names.reserve(wanted);
    for (int row = 0; row < types.rows.size(); ++row) {
        names.emplace_back(types.rows.at(row, 0));
    }
    std::vector<member> members;
    members.reserve(static_cast<std::size_t>(found.rows.size()));
    for (int row = 0; row < found.rows.size(); ++row) {
        members.push_back(
            {.name = std::string(found.rows.at(row, 0)), .owned = found.rows.at(row, 1) == "t"}
        );
    }
    return in_transaction(
        on,
        // IF NOT EXISTS would ask for the right to create even when the schema is there.
        only(
            "NOT EXISTS",
            "SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'pgweir'",
            "CREATE SCHEMA pgweir"
        ) + create_table(what, names, first) +
            create_function(what) + create_triggers(what, members)
    );
}

// Found by what they call: the table may be gone, and partitions may have been detached.
std::optional<sql_error> remove_outbox(sql_session& on, const std::string& migration) {
    const std::array<std::optional<std::string>, 1> parameters = {function_name(migration) + "()"};
    const auto found = on.run(triggers_question, parameters);
    if (!found) {
        return found.error;
    }
    std::string text;
    for (int row = 0; row < found.rows.size(); ++row) {
        text += "DROP TRIGGER IF EXISTS " + std::string(found.rows.at(row, 0)) + " ON " +
                std::string(found.rows.at(row, 1)) + ";\n";
    }
    text += "DROP FUNCTION IF EXISTS " + function_name(migration) + "();\nDROP TABLE IF EXISTS " +
            table_name(migration) + ";\n";
    return in_transaction(on, text);
}

}  // namespace weir::migration
