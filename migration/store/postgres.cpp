#include "migration/store/postgres.hpp"

#include "migration/store/postgres_names.hpp"
#include "migration/store/postgres_store.hpp"
#include "migration/store/postgres_values.hpp"

#include <algorithm>

namespace weir::migration::store {
namespace {

// Rows removed by one call of clear().
constexpr std::uint64_t most_cleared = 10'000;

// The comment and the columns of a table; no row if it is not there.
std::string shape_of(const std::string& name) {
    return "SELECT coalesce(obj_description(c.oid, 'pg_class'), ''), "
           "(SELECT string_agg(line || E'\\n', '' ORDER BY line COLLATE \"C\") FROM ("
           "SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod) AS line "
           "FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 "
           "AND NOT a.attisdropped) AS a) FROM pg_class AS c "
           "JOIN pg_namespace AS n ON n.oid = c.relnamespace "
           "WHERE n.nspname = 'pgweir_store' AND c.relname =" +
           quoted_text(short_name(name));
}

}  // namespace

result<sql_rows>
postgres_store::run(std::string_view what, const std::string& text, const parameters& values) {
    if (const auto connected = session_.connect(); connected.has_error()) {
        return connected.error();
    }
    return session_.run(what, text, values);
}

result<void> postgres_store::ensure(const std::string& name) {
    if (name.empty() || name.find('\0') != std::string::npos) {
        return refusal(name, "no name for a table");
    }
    const auto found = run("ensure", shape_of(name), {});
    if (found.has_error()) {
        return found.error();
    }
    return found->size() == 0 ? create(name) : check(name, *found);
}

result<void> postgres_store::check(const std::string& name, const sql_rows& found) const {
    const auto comment = found.at(0, 0);
    if (!namespace_in(comment)) {
        return refusal(name, "there is a table of this name that pgweir has not made");
    }
    if (comment != table_.comment(name)) {
        return refusal(name, "the table is there for \"" + std::string(comment) + "\"");
    }
    if (const auto columns = found.at(0, 1); columns != table_.columns()) {
        auto text = "the table has other columns: " + std::string(columns) +
                    "instead of: " + table_.columns();
        std::ranges::replace(text, '\n', ';');
        return refusal(name, text);
    }
    return {};
}

// Several writers may come here at once: one makes it, the others find it after their attempt.
result<void> postgres_store::create(const std::string& name) {
    const std::string lock = "SELECT pg_advisory_xact_lock(hashtext('pgweir_store'));";
    if (session_.vector_type() == 0) {
        const auto made = session_.run_script(
            "ensure",
            lock + "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public",
            session_.timeout()
        );
        if (made.has_error()) {
            return made.error();
        }
        if (const auto known = session_.find_extension(); known.has_error()) {
            return known.error();
        }
    }
    // Asked first, because IF NOT EXISTS wants the right to create schemas all the same.
    const auto schema =
        run("ensure", "SELECT FROM pg_namespace WHERE nspname = 'pgweir_store'", {});
    if (schema.has_error()) {
        return schema.error();
    }
    const std::string first =
        schema->size() == 0 ? "CREATE SCHEMA IF NOT EXISTS pgweir_store;" : "";
    const auto made = session_.run_script(
        "ensure",
        lock + first + table_.create(table_of(name), name),
        session_.timeout()
    );
    if (!made.has_error()) {
        return {};
    }
    const auto found = run("ensure", shape_of(name), {});
    if (found.has_error() || found->size() == 0) {
        return made.error();
    }
    return check(name, *found);
}

result<bool> postgres_store::clear(const std::string& name, std::uint32_t part) {
    const auto table = table_of(name);
    if (part == 0) {
        const auto emptied = run("clear", "TRUNCATE " + table, {});
        return emptied.has_error() ? result<bool>(emptied.error()) : result<bool>(false);
    }
    // One statement for all rows may never end within its time.
    const auto removed =
        run("clear",
            "DELETE FROM " + table + " WHERE ctid = ANY (ARRAY(SELECT ctid FROM " + table +
                " WHERE _pgweir_part = " + std::to_string(part) + "::oid LIMIT " +
                std::to_string(most_cleared) + "))",
            {});
    return removed.has_error() ? result<bool>(removed.error())
                               : result<bool>(removed->touched() == most_cleared);
}

result<std::uint64_t> postgres_store::count(const std::string& name) {
    const auto answer = run("count", "SELECT count(*) FROM " + table_of(name), {});
    if (answer.has_error()) {
        return answer.error();
    }
    const auto number = read_integer(answer->at(0, 0));
    return number ? result<std::uint64_t>(static_cast<std::uint64_t>(*number))
                  : refusal(name, "no number");
}

result<std::vector<std::string>> postgres_store::namespaces(std::string_view prefix) {
    const auto answer =
        run("namespaces",
            "SELECT obj_description(c.oid, 'pg_class') FROM pg_class AS c "
            "JOIN pg_namespace AS n ON n.oid = c.relnamespace "
            "WHERE n.nspname = 'pgweir_store' AND c.relkind = 'r'",
            {});
    if (answer.has_error()) {
        return answer.error();
    }
    std::vector<std::string> names;
    for (int row = 0; row < answer->size(); ++row) {
        auto name = namespace_in(answer->at(row, 0));
        if (name && name->starts_with(prefix)) {
            names.push_back(std::move(*name));
        }
    }
    std::ranges::sort(names);
    return names;
}

// Not at the start: rows go into a table without an index several times as fast. What an attempt
// that was interrupted has left is no index that is used, and is made anew.
result<void> postgres_store::index(const std::string& name) {
    const auto index = short_name(name + "/embedding");
    const auto found =
        run("index",
            "SELECT i.indisvalid::integer::bigint, (SELECT count(*) FROM pg_extension WHERE "
            "extname = 'vchord') "
            "FROM (SELECT) AS one LEFT JOIN (pg_index AS i "
            "JOIN pg_class AS c ON c.oid = i.indexrelid AND c.relname =" +
                quoted_text(index) +
                " JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = 'pgweir_store') "
                "ON true",
            {});
    if (found.has_error()) {
        return found.error();
    }
    const auto valid = found->is_null(0, 0) ? std::nullopt : read_integer(found->at(0, 0));
    if (valid == 1) {
        return {};
    }
    if (valid) {
        const auto text = "DROP INDEX pgweir_store." + quoted_name(index);
        if (const auto gone = session_.run_script("index", text, {}); gone.has_error()) {
            return gone.error();
        }
    }
    const bool vchord = read_integer(found->at(0, 1)).value_or(0) != 0;
    const auto made = session_.run_script("index", table_.index(table_of(name), index, vchord), {});
    return made.has_error() ? result<void>(made.error()) : result<void>();
}

std::unique_ptr<store> make_postgres(
    const source_address& where,
    const layout& rows,
    std::chrono::milliseconds request_timeout
) {
    return std::make_unique<postgres_store>(where, rows, request_timeout);
}

}  // namespace weir::migration::store
