#include "migration/store/postgres_table.hpp"

#include "migration/sql.hpp"
#include "migration/store/postgres_names.hpp"
#include "migration/store/postgres_values.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace weir::migration::store {
namespace {

constexpr std::string_view version_column = "_pgweir_version";
constexpr std::string_view part_column = "_pgweir_part";
// pgvector's HNSW takes vector up to the first and halfvec up to the second.
constexpr std::size_t most_indexed = 2000;
constexpr std::size_t most_indexed_half = 4000;

constexpr auto built_in = std::to_array<std::string_view>(
    {"boolean",
     "smallint",
     "integer",
     "bigint",
     "real",
     "double precision",
     "numeric",
     "text",
     "name",
     "character varying",
     "character",
     "uuid",
     "timestamp without time zone",
     "timestamp with time zone",
     "date",
     "json",
     "jsonb"}
);

std::string_view fallback(value_kind kind) {
    switch (kind) {
    case value_kind::numeric: return "numeric";
    case value_kind::uuid: return "uuid";
    case value_kind::json: return "jsonb";
    case value_kind::date: return "date";
    case value_kind::boolean:
    case value_kind::integer:
    case value_kind::real:
    case value_kind::text:
    case value_kind::timestamp: break;
    }
    return wire_type_of(kind).name;
}

// "timestamp(3) with time zone" without "(3)"; nothing if there is something else in it.
std::string without_modifier(std::string_view type) {
    const auto open = type.find('(');
    if (open == std::string_view::npos) {
        return std::string(type);
    }
    const auto close = type.find(')', open);
    if (close == std::string_view::npos ||
        type.substr(open + 1, close - open - 1).find_first_not_of("0123456789,- ") !=
            std::string_view::npos) {
        return {};
    }
    return std::string(type.substr(0, open)) + std::string(type.substr(close + 1));
}

postgres_table::field field_for(const column& from) {
    postgres_table::field made{from.name, from.kind, from.type, without_modifier(from.type)};
    if (std::ranges::find(built_in, made.bare) == built_in.end()) {
        made.type = made.bare = fallback(from.kind);
    } else if (made.bare == "character") {
        made.bare = "bpchar";  // "character" alone means one character
    }
    return made;
}

std::string_view word_for(metric what) {
    switch (what) {
    case metric::cosine: return "cosine";
    case metric::l2: return "l2";
    case metric::inner_product: break;
    }
    return "inner product";
}

std::string_view operator_for(metric what) {
    switch (what) {
    case metric::cosine: return "<=>";
    case metric::l2: return "<->";
    case metric::inner_product: break;
    }
    return "<#>";
}

std::string_view operator_class_for(metric what) {
    switch (what) {
    case metric::cosine: return "cosine_ops";
    case metric::l2: return "l2_ops";
    case metric::inner_product: break;
    }
    return "ip_ops";
}

std::string_view sign_for(condition::test op) {
    switch (op) {
    case condition::test::equal: return " = ";
    case condition::test::less: return " < ";
    case condition::test::less_equal: return " <= ";
    case condition::test::greater: return " > ";
    case condition::test::greater_equal: return " >= ";
    case condition::test::is_null: break;
    }
    return " IS NULL";
}

std::string number(std::size_t parameter) {
    return "$" + std::to_string(parameter);
}

std::string alias(std::size_t field) {
    return "c" + std::to_string(field);
}

// What a value looks like in an answer. Text stays as it is: the cast would cut trailing blanks.
std::string sent(const postgres_table::field& of) {
    auto name = "t." + quoted_name(of.name);
    if (of.kind != value_kind::text) {
        name.append("::").append(wire_type_of(of.kind).name);
    }
    return name;
}

// A parameter of the kind as a value of the column's type.
std::string received(const postgres_table::field& of, std::size_t parameter) {
    return number(parameter) + "::" + std::string(wire_type_of(of.kind).name) + "::" + of.bare;
}

}  // namespace

postgres_table::postgres_table(const layout& rows) : rows_(rows) {
    std::vector<std::string> taken = {std::string(version_column), std::string(part_column)};
    const auto unused = [&taken](std::string name) {
        while (std::ranges::find(taken, name) != taken.end()) {
            name.insert(0, "_pgweir_");
            name = short_name(name);
        }
        taken.push_back(name);
        return name;
    };
    const auto add = [&](const column& from) {
        fields_.push_back(field_for(from));
        fields_.back().name = unused(from.name);
    };
    std::ranges::for_each(rows.key, add);
    keys_ = fields_.size();
    for (const auto& one : rows.attributes) {
        // The tenant, say, is in the key already.
        const auto in_key = std::ranges::find(rows.key, one);
        field_of_attribute_.push_back(
            in_key == rows.key.end() ? fields_.size()
                                     : static_cast<std::size_t>(in_key - rows.key.begin())
        );
        if (in_key == rows.key.end()) {
            add(one);
        }
    }
    embedding_ = unused("embedding");
}

std::string postgres_table::embedding_type() const {
    return (rows_.half ? "halfvec(" : "vector(") + std::to_string(rows_.dimensions) + ")";
}

std::string postgres_table::comment(std::string_view name) const {
    return "pgweir store, " + std::string(word_for(rows_.metric)) + ": " + std::string(name);
}

std::string postgres_table::columns() const {
    std::vector<std::string> lines = {
        embedding_ + " " + embedding_type(),
        std::string(version_column) + " text",
        std::string(part_column) + " oid"};
    for (const auto& one : fields_) {
        lines.push_back(one.name + " " + one.type);
    }
    std::ranges::sort(lines);
    std::string all;
    for (const auto& line : lines) {
        all += line + "\n";
    }
    return all;
}

std::string postgres_table::key_names(std::string_view of) const {
    std::string names;
    for (std::size_t i = 0; i < keys_; ++i) {
        names += (i == 0 ? "" : ", ") + std::string(of) + quoted_name(fields_[i].name);
    }
    return names;
}

std::string postgres_table::create(const std::string& table, std::string_view name) const {
    std::string text = "CREATE TABLE " + table + " (";
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        text += quoted_name(fields_[i].name) + " " + fields_[i].type +
                (i < keys_ ? " NOT NULL, " : ", ");
    }
    text += embedding_ + " " + embedding_type() + " NOT NULL, " + std::string(version_column) +
            " text COLLATE \"C\" NOT NULL, " + std::string(part_column) +
            " oid NOT NULL, PRIMARY KEY (" + key_names() + "));";
    return text + "COMMENT ON TABLE " + table + " IS" + quoted_text(comment(name));
}

// The arrays as rows: the first fields, then e (vector), v (version), p (part), o (index), which
// `more` names in the order of their parameters.
std::string postgres_table::rows(std::size_t fields, const std::vector<std::string>& more) const {
    std::string outer;
    std::string inner;
    for (std::size_t i = 0; i < fields; ++i) {
        const auto& one = fields_[i];
        outer += "r." + alias(i) + "::" + one.bare + " AS " + alias(i) + ", ";
        inner += "unnest(" + number(i + 1) + "::" + std::string(wire_type_of(one.kind).name) +
                 "[]) AS " + alias(i) + ", ";
    }
    for (std::size_t i = 0; i < more.size(); ++i) {
        const auto& what = more[i];
        const std::string type = what == "e"   ? "vector"
                                 : what == "v" ? "text"
                                 : what == "p" ? "oid"
                                               : "integer";
        outer.append("r.").append(what).append(
            what == "e" && rows_.half ? "::halfvec AS e, " : ", "
        );
        inner.append("unnest(").append(number(fields + i + 1)).append("::").append(type);
        inner.append("[]) AS ").append(what).append(", ");
    }
    outer.resize(outer.size() - 2);
    inner.resize(inner.size() - 2);
    return "(SELECT " + outer + " FROM (SELECT " + inner + ") AS r)";
}

std::string postgres_table::same_key(std::string_view left, std::string_view right) const {
    std::string text;
    for (std::size_t i = 0; i < keys_; ++i) {
        text += (i == 0 ? "" : " AND ") + std::string(left) + "." + quoted_name(fields_[i].name) +
                " = " + std::string(right) + "." + alias(i);
    }
    return text;
}

std::string postgres_table::upsert(const std::string& table) const {
    std::string names;
    std::string values;
    std::string sets;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const auto name = quoted_name(fields_[i].name);
        names.append(name).append(", ");
        values.append("s.").append(alias(i)).append(", ");
        if (i >= keys_) {
            sets.append(name).append(" = excluded.").append(name).append(", ");
        }
    }
    const std::string last = embedding_ + ", _pgweir_version, _pgweir_part";
    return "INSERT INTO " + table + " AS t (" + names + last + ") SELECT " + values +
           "s.e, s.v, s.p FROM " + rows(fields_.size(), {"e", "v", "p"}) + " AS s ON CONFLICT (" +
           key_names() + ") DO UPDATE SET " + sets + embedding_ + " = excluded." + embedding_ +
           ", _pgweir_version = excluded._pgweir_version, _pgweir_part = excluded._pgweir_part"
           " WHERE t._pgweir_version <= excluded._pgweir_version";
}

std::string postgres_table::patch(const std::string& table) const {
    std::string sets;
    for (std::size_t i = keys_; i < fields_.size(); ++i) {
        sets += quoted_name(fields_[i].name) + " = s." + alias(i) + ", ";
    }
    return "WITH s AS MATERIALIZED " + rows(fields_.size(), {"v", "p", "o"}) + ", u AS (UPDATE " +
           table + " AS t SET " + sets + "_pgweir_version = s.v, _pgweir_part = s.p FROM s WHERE " +
           same_key("t", "s") +
           " AND t._pgweir_version <= s.v RETURNING 1) "
           "SELECT false, count(*) FROM u UNION ALL SELECT true, s.o::bigint FROM s "
           "WHERE NOT EXISTS (SELECT FROM " +
           table + " AS t WHERE " + same_key("t", "s") + ")";
}

std::string postgres_table::remove(const std::string& table) const {
    return "DELETE FROM " + table + " AS t USING " + rows(keys_, {"v"}) + " AS s WHERE " +
           same_key("t", "s") + " AND t._pgweir_version <= s.v";
}

std::string postgres_table::wanted_columns(fields wanted) const {
    std::string text;
    for (std::size_t i = 0; i < (wanted.attributes ? fields_.size() : keys_); ++i) {
        text += sent(fields_[i]) + ", ";
    }
    text += "t._pgweir_version, t._pgweir_part";
    if (wanted.embedding) {
        text += ", t." + embedding_ + (rows_.half ? "::vector" : "");
    }
    return text;
}

std::string postgres_table::fetch(const std::string& table, fields wanted) const {
    return "SELECT " + wanted_columns(wanted) + " FROM " + rows(keys_, {}) + " AS s JOIN " + table +
           " AS t ON " + same_key("t", "s");
}

std::string
postgres_table::scan(const std::string& table, bool after, std::size_t limit, fields wanted) const {
    std::string text = "SELECT " + wanted_columns(wanted) + " FROM " + table + " AS t";
    if (after) {
        text += " WHERE (" + key_names("t.") + ") > (";
        for (std::size_t i = 0; i < keys_; ++i) {
            text += (i == 0 ? "" : ", ") + received(fields_[i], i + 1);
        }
        text += ")";
    }
    // With "t.", or the names would be those of the answer's columns, for which there is no index.
    return text + " ORDER BY " + key_names("t.") + " LIMIT " + std::to_string(limit);
}

std::string postgres_table::holds(const condition& what, std::size_t parameter) const {
    const auto& one = fields_[field_of(what.attribute)];
    auto test = "t." + quoted_name(one.name);
    // As bytes, whatever the database sorts by; the caller asks only where the source does so.
    if (one.kind == value_kind::text && what.op != condition::test::equal) {
        test += " COLLATE \"C\"";
    }
    test += sign_for(what.op);
    return what.op == condition::test::is_null ? test : test + received(one, parameter);
}

bool postgres_table::indexed_as_half() const {
    return !rows_.half && rows_.dimensions > most_indexed && rows_.dimensions <= most_indexed_half;
}

std::string postgres_table::search(const std::string& table, const query& what) const {
    const auto column = "t." + embedding_;
    const std::string sign = " " + std::string(operator_for(rows_.metric)) + " ";
    const std::string half = "::halfvec(" + std::to_string(rows_.dimensions) + ")";
    const auto distance = column + sign + "$1::vector" + (rows_.half ? half : "");
    std::string text = "SELECT ";
    for (std::size_t i = 0; i < keys_; ++i) {
        text += sent(fields_[i]) + ", ";
    }
    text += "(" + distance + ")::double precision FROM " + table + " AS t";
    std::size_t parameter = 1;
    for (std::size_t i = 0; i < what.filter.size(); ++i) {
        const bool valued = what.filter[i].op != condition::test::is_null;
        text += (i == 0 ? " WHERE " : " AND ") + holds(what.filter[i], parameter + 1);
        parameter += valued ? 1 : 0;
    }
    // No index is for a sum, so that an exact search reads the rows.
    const auto order = what.exact          ? "(" + distance + ") + 0"
                       : indexed_as_half() ? "(" + column + half + ")" + sign + "$1::vector" + half
                                           : distance;
    return text + " ORDER BY " + order + " LIMIT " + std::to_string(what.limit);
}

std::string postgres_table::index(const std::string& table, const std::string& index, bool vchord)
    const {
    const bool half = rows_.half || indexed_as_half();
    const auto what = indexed_as_half() ? "(" + embedding_ + "::halfvec(" +
                                              std::to_string(rows_.dimensions) + "))"
                                        : embedding_;
    return "CREATE INDEX CONCURRENTLY " + quoted_name(index) + " ON " + table + " USING " +
           (vchord ? "vchordrq" : "hnsw") + " (" + what + (half ? " halfvec_" : " vector_") +
           std::string(operator_class_for(rows_.metric)) + ")";
}

}  // namespace weir::migration::store
