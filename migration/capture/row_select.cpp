#include "migration/capture/row_select.hpp"

#include "migration/value_codec.hpp"
#include "migration/vector_codec.hpp"
#include "protocol/byte_reader.hpp"

#include <utility>

namespace weir::migration {
namespace {

using reason = std::string;

reason trouble(const plan& what, const std::string& column, codec_fault why) {
    return what.schema + '.' + what.table + ": column \"" + column +
           "\": " + std::string(to_text(why));
}

}  // namespace

std::string from_table(const plan& what) {
    return (what.partitioned ? "" : "ONLY ") + quoted_name(what.schema) + '.' +
           quoted_name(what.table) + " AS t";
}

std::string row_columns(const plan& what) {
    std::string list;
    for (const auto& column : what.layout.key) {
        list += "t." + quoted_name(column.name) + ", ";
    }
    list += "t." + quoted_name(what.embedding) + ", ";
    for (const auto& column : what.layout.attributes) {
        list += "t." + quoted_name(column.name) + ", ";
    }
    return list + "t.tableoid";
}

std::size_t row_width(const plan& what) {
    return what.layout.key.size() + what.layout.attributes.size() + 2;
}

boost::system::result<source_row, std::string>
read_row(const plan& what, const sql_rows& rows, int row) {
    source_row made;
    int at = 0;
    reason fault;
    const auto next_value = [&](const column& from) {
        const int index = at++;
        if (rows.is_null(row, index)) {
            return value();
        }
        auto read = read_value(from.kind, 0, value_format::binary, rows.at(row, index));
        if (!read && fault.empty()) {
            fault = trouble(what, from.name, read.error());
        }
        return read ? std::move(*read) : value();
    };
    made.key.reserve(what.layout.key.size());
    for (const auto& column : what.layout.key) {
        made.key.push_back(next_value(column));
    }
    if (const int index = at++; !rows.is_null(row, index)) {
        const auto type = what.layout.half ? vector_type::halfvec : vector_type::vector;
        auto read = read_vector(rows.at(row, index), type);
        if (!read) {
            return trouble(what, what.embedding, read.error());
        }
        made.embedding = std::move(*read);
    }
    made.attributes.reserve(what.layout.attributes.size());
    for (const auto& column : what.layout.attributes) {
        made.attributes.push_back(next_value(column));
    }
    if (!fault.empty()) {
        return fault;
    }
    if (what.partitioned) {
        made.part = protocol::byte_reader(protocol::as_bytes(rows.at(row, at))).u32();
    }
    return made;
}

std::string select_by_key(const plan& what) {
    std::string arrays;
    std::string names;
    std::string same;
    for (std::size_t i = 0; i < what.layout.key.size(); ++i) {
        const auto& column = what.layout.key[i];
        const auto number = std::to_string(i + 1);
        arrays += (i == 0 ? "$" : ", $") + number + "::" + column.type + "[]";
        names += "k" + number + ", ";
        same += (i == 0 ? "t." : " AND t.") + quoted_name(column.name) + " = wanted.k" + number;
    }
    return "SELECT " + row_columns(what) + ", wanted.place FROM ROWS FROM (unnest(" + arrays +
           ")) WITH ORDINALITY AS wanted(" + names + "place) JOIN " + from_table(what) + " ON " +
           same;
}

std::vector<std::optional<std::string>>
key_arrays(const plan& what, std::span<const key* const> keys) {
    std::vector<std::optional<std::string>> arrays;
    for (std::size_t i = 0; i < what.layout.key.size(); ++i) {
        std::vector<std::string> elements;
        elements.reserve(keys.size());
        for (const auto* each : keys) {
            elements.push_back(parameter_text(what.layout.key[i].kind, (*each)[i]).value_or(""));
        }
        arrays.emplace_back(text_array(elements));
    }
    return arrays;
}

}  // namespace weir::migration
