#include "migration/source_table.hpp"

#include "migration/journal.hpp"

#include <array>
#include <charconv>
#include <span>

namespace weir::migration {

namespace {

using parameter = std::optional<std::string>;

// Of the relation $1 and everything below it.
constexpr const char* tree =
    "(SELECT $1::oid AS relid UNION SELECT relid FROM pg_partition_tree($1::oid::regclass))";

// Names of the first `indnkeyatts` columns of the index i, in its order.
constexpr const char* index_columns =
    "(SELECT array_agg(a.attname::text ORDER BY k.place) FROM unnest(i.indkey::int2[]) WITH "
    "ORDINALITY AS k (number, place) JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND "
    "a.attnum = k.number WHERE k.place <= i.indnkeyatts)";

std::int64_t number_of(std::string_view digits) {
    std::int64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

char letter_of(std::string_view text) {
    return text.empty() ? '\0' : text.front();
}

class reading {
public:
    reading(sql_session& session, source_table& table) : session_(session), table_(table) {}

    // False when there is no such table; an error ends everything that follows.
    bool find(const std::string& schema, const std::string& name) {
        const std::array<parameter, 2> parameters = {schema, name};
        const auto rows = ask(
            "SELECT c.oid, c.relkind, c.relpersistence, row_security_active(c.oid), c.relkind <> "
            "'p' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid), "
            "has_table_privilege(c.oid, 'SELECT') FROM pg_class AS c JOIN pg_namespace AS n ON "
            "n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', "
            "'p', 'v', 'm', 'f')",
            parameters
        );
        if (rows.size() != 1) {
            return false;
        }
        oid_ = rows.at(0, 0);
        table_.oid = static_cast<std::uint32_t>(number_of(oid_));
        table_.kind = letter_of(rows.at(0, 1));
        table_.persistence = letter_of(rows.at(0, 2));
        table_.row_security = rows.at(0, 3) == "t";
        table_.inherited = rows.at(0, 4) == "t";
        table_.readable = rows.at(0, 5) == "t";
        return true;
    }

    // Domains are followed down to the type below them, and to its modifier and NOT NULL.
    void read_columns() {
        const std::array<parameter, 1> parameters = {oid_};
        const auto rows = ask(
            "WITH RECURSIVE base (number, type, modifier, not_null) AS (SELECT attnum, atttypid, "
            "atttypmod, attnotnull FROM pg_attribute WHERE attrelid = $1::oid AND attnum > 0 AND "
            "NOT attisdropped UNION ALL SELECT b.number, t.typbasetype, t.typtypmod, b.not_null OR "
            "t.typnotnull FROM base AS b JOIN pg_type AS t ON t.oid = b.type WHERE t.typtype = "
            "'d') SELECT a.attname, format_type(a.atttypid, a.atttypmod), t.oid, t.typname, "
            "t.typtype, (SELECT e.extname FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = "
            "d.refobjid WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid AND "
            "d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'), b.modifier, b.not_null, "
            "a.attgenerated <> '' FROM base AS b JOIN pg_type AS t ON t.oid = b.type JOIN "
            "pg_attribute AS a ON a.attrelid = $1::oid AND a.attnum = b.number WHERE t.typtype <> "
            "'d' ORDER BY a.attnum",
            parameters
        );
        for (int row = 0; row < rows.size(); ++row) {
            table_.columns.push_back(
                {.name = std::string(rows.at(row, 0)),
                 .type = std::string(rows.at(row, 1)),
                 .base_oid = static_cast<std::uint32_t>(number_of(rows.at(row, 2))),
                 .base_name = std::string(rows.at(row, 3)),
                 .base_kind = letter_of(rows.at(row, 4)),
                 .extension = std::string(rows.at(row, 5)),
                 .modifier = static_cast<std::int32_t>(number_of(rows.at(row, 6))),
                 .not_null = rows.at(row, 7) == "t",
                 .generated = rows.at(row, 8) == "t"}
            );
        }
    }

    // A primary key that can be deferred is no replica identity.
    void read_leaves() {
        const std::array<parameter, 1> parameters = {oid_};
        const auto rows =
            ask(std::string("SELECT c.oid::regclass, c.relreplident, (SELECT ") + index_columns +
                    " FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisvalid AND CASE "
                    "c.relreplident WHEN 'd' THEN i.indisprimary AND i.indimmediate WHEN 'i' THEN "
                    "i.indisreplident ELSE false END LIMIT 1) FROM pg_class AS c JOIN " +
                    tree + " AS t ON t.relid = c.oid WHERE c.relkind <> 'p' ORDER BY c.oid",
                parameters);
        for (int row = 0; row < rows.size(); ++row) {
            table_.leaves.push_back(
                {.name = std::string(rows.at(row, 0)),
                 .replica_identity = letter_of(rows.at(row, 1)),
                 .identity = names_at(rows, row, 2)}
            );
        }
    }

    void read_unique_keys() {
        const std::array<parameter, 1> parameters = {oid_};
        const auto rows = ask(
            std::string("SELECT ") + index_columns +
                " FROM pg_index AS i WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid "
                "AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL ORDER BY "
                "i.indexrelid",
            parameters
        );
        for (int row = 0; row < rows.size(); ++row) {
            table_.unique_keys.push_back(names_at(rows, row, 0));
        }
    }

    // By what the index depends on, so that one on an expression such as embedding::halfvec(3) is
    // found too.
    void read_ann_indexes(const std::string& embedding) {
        const std::array<parameter, 2> parameters = {oid_, embedding};
        const auto rows = ask(
            std::string("SELECT DISTINCT c.oid::regclass::text, o.opcname FROM ") + tree +
                " AS t JOIN pg_index AS i ON i.indrelid = t.relid JOIN pg_class AS c ON c.oid = "
                "i.indexrelid JOIN pg_am AS m ON m.oid = c.relam JOIN pg_attribute AS a ON "
                "a.attrelid = i.indrelid AND a.attname = $2 JOIN pg_depend AS d ON d.classid = "
                "'pg_class'::regclass AND d.objid = i.indexrelid AND d.refclassid = "
                "'pg_class'::regclass AND d.refobjid = i.indrelid AND d.refobjsubid = a.attnum "
                "JOIN "
                "pg_opclass AS o ON o.oid = ANY (i.indclass::oid[]) WHERE m.amname NOT IN "
                "('btree', 'hash', 'gist', 'gin', 'brin', 'spgist') ORDER BY 1, 2",
            parameters
        );
        for (int row = 0; row < rows.size(); ++row) {
            table_.ann.push_back(
                {.name = std::string(rows.at(row, 0)),
                 .operator_class = std::string(rows.at(row, 1))}
            );
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

    static std::vector<std::string> names_at(const sql_rows& rows, int row, int column) {
        if (rows.is_null(row, column)) {
            return {};
        }
        return parse_text_array(rows.at(row, column)).value_or(std::vector<std::string>());
    }

    sql_session& session_;
    source_table& table_;
    std::string oid_;
};

}  // namespace

table_answer read_table(
    sql_session& session,
    const std::string& schema,
    const std::string& name,
    const std::string& embedding
) {
    source_table table;
    reading all(session, table);
    if (!all.find(schema, name)) {
        return {.table = {}, .error = all.error};
    }
    all.read_columns();
    all.read_leaves();
    all.read_unique_keys();
    all.read_ann_indexes(embedding);
    if (all.error) {
        return {.table = {}, .error = all.error};
    }
    return {.table = std::move(table), .error = {}};
}

}  // namespace weir::migration
