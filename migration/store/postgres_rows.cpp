#include "migration/store/postgres_names.hpp"
#include "migration/store/postgres_store.hpp"
#include "migration/store/postgres_values.hpp"

#include <charconv>

namespace weir::migration::store {
namespace {

using parameters = std::vector<std::string>;

std::uint64_t size_of(const parameters& all) {
    std::uint64_t size = 0;
    for (const auto& one : all) {
        size += one.size();
    }
    return size;
}

error damaged(std::string_view what) {
    return {fault::failed, "postgres: " + std::string(what) + ": an answer that makes no sense"};
}

parameters key_arrays(const postgres_table& table, std::size_t count, const auto& key_at) {
    parameters values;
    for (std::size_t i = 0; i < table.keys(); ++i) {
        const auto kind = table.all_fields()[i].kind;
        array_writer column(wire_type_of(kind).oid, count);
        for (std::size_t row = 0; row < count; ++row) {
            column.add(kind, key_at(row)[i]);
        }
        values.push_back(column.take());
    }
    return values;
}

// A place in the order of keys: for each column its length and its bytes, as they are sent.
std::string place_of(const postgres_table& table, const key& last) {
    std::string place;
    for (std::size_t i = 0; i < table.keys(); ++i) {
        std::string bytes;
        put_value(bytes, table.all_fields()[i].kind, last[i]);
        place += std::to_string(bytes.size()) + ":" + bytes;
    }
    return place;
}

std::optional<parameters> key_at(const postgres_table& table, std::string_view place) {
    parameters values;
    while (!place.empty()) {
        std::size_t length = 0;
        const auto* const end = place.data() + place.size();
        const auto [colon, fault] = std::from_chars(place.data(), end, length);
        place.remove_prefix(static_cast<std::size_t>(colon - place.data()));
        if (fault != std::errc{} || !place.starts_with(':') || place.size() - 1 < length) {
            return std::nullopt;
        }
        values.emplace_back(place.substr(1, length));
        place.remove_prefix(1 + length);
    }
    return values.empty() || values.size() == table.keys() ? std::optional(std::move(values))
                                                           : std::nullopt;
}

}  // namespace

void postgres_store::put_fields(parameters& out, std::span<const document> documents) const {
    const auto& fields = table_.all_fields();
    std::vector<array_writer> columns;
    columns.reserve(fields.size());
    for (const auto& field : fields) {
        columns.emplace_back(wire_type_of(field.kind).oid, documents.size());
    }
    for (const auto& one : documents) {
        for (std::size_t i = 0; i < table_.keys(); ++i) {
            columns[i].add(fields[i].kind, one.key[i]);
        }
        for (std::size_t i = 0; i < one.attributes.size(); ++i) {
            if (const auto field = table_.field_of(i); field >= table_.keys()) {
                columns[field].add(fields[field].kind, one.attributes[i]);
            }
        }
    }
    for (auto& column : columns) {
        out.push_back(column.take());
    }
}

void postgres_store::put_versions(parameters& out, std::span<const document> documents) const {
    array_writer versions(text_type.oid, documents.size(), 34);
    array_writer parts(part_type.oid, documents.size(), 4);
    for (const auto& one : documents) {
        versions.add(to_text(one.version));
        parts.add(one.part);
    }
    out.push_back(versions.take());
    out.push_back(parts.take());
}

result<written>
postgres_store::upsert(const std::string& name, std::span<const document> documents) {
    if (documents.empty()) {
        return written{};
    }
    if (const auto connected = session_.connect(); connected.has_error()) {
        return connected.error();
    }
    if (session_.vector_type() == 0) {
        return error{fault::missing, "postgres: the database has no extension vector"};
    }
    parameters values;
    put_fields(values, documents);
    array_writer vectors(
        session_.vector_type(),
        documents.size(),
        4 + rows_.dimensions * sizeof(float)
    );
    for (const auto& one : documents) {
        vectors.add(std::span(one.embedding));
    }
    values.push_back(vectors.take());
    put_versions(values, documents);
    const auto answer = session_.run("upsert", table_.upsert(table_of(name)), values);
    if (answer.has_error()) {
        return answer.error();
    }
    return written{.applied = answer->touched(), .bytes = size_of(values), .absent = {}};
}

result<written>
postgres_store::patch(const std::string& name, std::span<const document> documents) {
    if (documents.empty()) {
        return written{};
    }
    parameters values;
    put_fields(values, documents);
    put_versions(values, documents);
    array_writer indexes(index_type.oid, documents.size(), 4);
    for (std::uint32_t i = 0; i < documents.size(); ++i) {
        indexes.add(i);
    }
    values.push_back(indexes.take());
    const auto answer = run("patch", table_.patch(table_of(name)), values);
    if (answer.has_error()) {
        return answer.error();
    }
    written done{.applied = 0, .bytes = size_of(values), .absent = {}};
    for (int row = 0; row < answer->size(); ++row) {
        const auto number = read_integer(answer->at(row, 1));
        if (!number) {
            return damaged("patch");
        }
        if (answer->at(row, 0) == std::string_view("\0", 1)) {
            done.applied = static_cast<std::uint64_t>(*number);
        } else {
            done.absent.push_back(documents[static_cast<std::size_t>(*number)].key);
        }
    }
    return done;
}

result<written> postgres_store::remove(const std::string& name, std::span<const removal> removals) {
    if (removals.empty()) {
        return written{};
    }
    const auto key_at = [&](std::size_t row) -> const key& { return removals[row].key; };
    auto values = key_arrays(table_, removals.size(), key_at);
    array_writer versions(text_type.oid, removals.size(), 34);
    for (const auto& one : removals) {
        versions.add(to_text(one.version));
    }
    values.push_back(versions.take());
    const auto answer = run("remove", table_.remove(table_of(name)), values);
    if (answer.has_error()) {
        return answer.error();
    }
    return written{.applied = answer->touched(), .bytes = size_of(values), .absent = {}};
}

result<std::vector<stored>> postgres_store::documents_in(const sql_rows& rows, fields wanted) {
    const auto& fields = table_.all_fields();
    const std::size_t shown = wanted.attributes ? fields.size() : table_.keys();
    std::vector<stored> all;
    all.reserve(static_cast<std::size_t>(rows.size()));
    std::vector<value> values(shown);
    for (int row = 0; row < rows.size(); ++row) {
        int column = 0;
        for (auto& one : values) {
            const auto kind = fields[static_cast<std::size_t>(column)].kind;
            auto read = rows.is_null(row, column) ? std::optional<value>(value{})
                                                  : read_value(kind, rows.at(row, column));
            if (!read) {
                return damaged("a row");
            }
            one = std::move(*read);
            ++column;
        }
        stored made;
        const auto known = parse_version(rows.at(row, column));
        const auto part = read_part(rows.at(row, column + 1));
        auto embedding = wanted.embedding ? read_vector(rows.at(row, column + 2))
                                          : std::optional<std::vector<float>>(std::in_place);
        if (!known || !part || !embedding) {
            return damaged("a row");
        }
        made.version = *known;
        made.part = *part;
        made.embedding = std::move(*embedding);
        made.key.assign(values.begin(), values.begin() + static_cast<int>(table_.keys()));
        for (std::size_t i = 0; wanted.attributes && i < rows_.attributes.size(); ++i) {
            made.attributes.push_back(values[table_.field_of(i)]);
        }
        all.push_back(std::move(made));
    }
    return all;
}

result<std::vector<stored>>
postgres_store::fetch(const std::string& name, std::span<const key> keys, fields wanted) {
    if (keys.empty()) {
        return std::vector<stored>{};
    }
    const auto key_at = [&](std::size_t row) -> const key& { return keys[row]; };
    const auto answer =
        run("fetch", table_.fetch(table_of(name), wanted), key_arrays(table_, keys.size(), key_at));
    if (answer.has_error()) {
        return answer.error();
    }
    return documents_in(*answer, wanted);
}

result<page> postgres_store::scan(
    const std::string& name,
    const std::string& after,
    std::size_t limit,
    fields wanted
) {
    const auto from = key_at(table_, after);
    if (!from) {
        return refusal(name, "no place that a scan has returned");
    }
    const auto text = table_.scan(table_of(name), !from->empty(), limit, wanted);
    const auto answer = run("scan", text, *from);
    if (answer.has_error()) {
        return answer.error();
    }
    auto documents = documents_in(*answer, wanted);
    if (documents.has_error()) {
        return documents.error();
    }
    page made{.documents = std::move(*documents), .next = {}};
    if (!made.documents.empty() && made.documents.size() == limit) {
        made.next = place_of(table_, made.documents.back().key);
    }
    return made;
}

result<std::vector<hit>> postgres_store::search(const std::string& name, const query& what) {
    parameters values(1);
    put_vector(values.front(), what.embedding);
    for (const auto& one : what.filter) {
        if (one.op == condition::test::is_null) {
            continue;
        }
        if (is_null(one.operand)) {
            return std::vector<hit>{};  // no comparison with NULL holds
        }
        put_value(values.emplace_back(), rows_.attributes[one.attribute].kind, one.operand);
    }
    const auto answer = run("search", table_.search(table_of(name), what), values);
    if (answer.has_error()) {
        return answer.error();
    }
    std::vector<hit> found;
    const auto keys = static_cast<int>(table_.keys());
    for (int row = 0; row < answer->size(); ++row) {
        hit one;
        for (int i = 0; i < keys; ++i) {
            const auto kind = table_.all_fields()[static_cast<std::size_t>(i)].kind;
            auto read = read_value(kind, answer->at(row, i));
            if (!read) {
                return damaged("search");
            }
            one.key.push_back(std::move(*read));
        }
        const auto distance = read_real(answer->at(row, keys));
        if (!distance) {
            return damaged("search");
        }
        one.distance = *distance;
        found.push_back(std::move(one));
    }
    return found;
}

}  // namespace weir::migration::store
