#include "migration/source_reader.hpp"

#include "migration/value_codec.hpp"
#include "migration/vector_codec.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <stdexcept>

namespace weir::migration {
namespace {

using namespace std::chrono_literals;

std::uint64_t number(std::string_view text) {
    std::uint64_t read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    return read;
}

// A big-endian integer of up to 8 bytes, as a binary result holds it.
std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t read = 0;
    for (const char byte : bytes) {
        read = read << 8 | static_cast<unsigned char>(byte);
    }
    return read;
}

std::runtime_error unreadable(const std::string& column, codec_fault why) {
    return std::runtime_error("column " + column + ": " + std::string(to_text(why)));
}

// The key's column as a parameter; keys are never NULL.
std::string text_of(const column& what, const value& part) {
    return parameter_text(what.kind, part).value_or(std::string());
}

std::string row_of_parameters(const plan& what, std::size_t first) {
    std::string text = "(";
    for (std::size_t i = 0; i < what.layout.key.size(); ++i) {
        text += (i == 0 ? "$" : ", $") + std::to_string(first + i) + "::" + what.layout.key[i].type;
    }
    return text + ")";
}

}  // namespace

bool visible_in(std::string_view snapshot, std::uint32_t transaction) {
    const auto first = snapshot.find(':');
    const auto second = snapshot.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) {
        return false;
    }
    const auto next = number(snapshot.substr(first + 1, second - first - 1));
    // The 64-bit number with these low bits that is nearest to the snapshot.
    const auto ahead = static_cast<std::int32_t>(transaction - static_cast<std::uint32_t>(next));
    const auto whole = next + static_cast<std::uint64_t>(static_cast<std::int64_t>(ahead));
    if (ahead >= 0) {
        return false;
    }
    auto running = snapshot.substr(second + 1);
    while (!running.empty()) {
        const auto comma = running.find(',');
        if (number(running.substr(0, comma)) == whole) {
            return false;
        }
        running = comma == std::string_view::npos ? "" : running.substr(comma + 1);
    }
    return true;
}

source_reader::source_reader(const plan& what, const source_servers& servers)
    : plan_(what), servers_(servers), primary_(servers) {
    table_ = (what.partitioned ? "" : "ONLY ") + quoted_name(what.schema) + "." +
             quoted_name(what.table);
    for (const auto& column : what.layout.key) {
        keys_ += (keys_.empty() ? "" : ", ") + quoted_name(column.name);
    }
}

std::string source_reader::columns(const std::string& of) const {
    std::string text = of + "tableoid";
    for (const auto& column : plan_.layout.key) {
        text += ", " + of + quoted_name(column.name);
    }
    text += ", " + of + quoted_name(plan_.embedding);
    for (const auto& column : plan_.layout.attributes) {
        text += ", " + of + quoted_name(column.name);
    }
    return text;
}

source_row source_reader::row_at(const sql_rows& rows, int row, int first_column) const {
    int column = first_column;
    source_row read;
    const auto table = static_cast<std::uint32_t>(big_endian(rows.at(row, column++)));
    read.part = plan_.partitioned ? table : 0;
    const auto next = [&](const migration::column& what) {
        const int at = column++;
        if (rows.is_null(row, at)) {
            return value{};
        }
        auto decoded =
            read_value(what.kind, PQftype(rows.get(), at), value_format::binary, rows.at(row, at));
        if (decoded.has_error()) {
            throw unreadable(what.name, decoded.error());
        }
        return std::move(*decoded);
    };
    for (const auto& what : plan_.layout.key) {
        read.key.push_back(next(what));
    }
    const auto embedding_type = plan_.layout.half ? vector_type::halfvec : vector_type::vector;
    const int embedding = column++;
    if (!rows.is_null(row, embedding)) {
        auto numbers = read_vector(rows.at(row, embedding), embedding_type);
        if (numbers.has_error()) {
            throw unreadable(plan_.embedding, numbers.error());
        }
        read.embedding = std::move(*numbers);
    }
    for (const auto& what : plan_.layout.attributes) {
        read.attributes.push_back(next(what));
    }
    return read;
}

sql_answer source_reader::asked(
    const std::string& text,
    std::span<const std::optional<std::string>> parameters
) {
    auto answer = primary_.run(text, parameters, true);
    if (!answer) {
        throw std::runtime_error(answer.error->text);
    }
    return answer;
}

// A change can be decoded before its transaction has ended for others.
void source_reader::await_visible(std::span<const wanted> rows) {
    for (auto pause = 1ms;; pause = std::min(2 * pause, 500ms)) {
        const auto answer = primary_.run("SELECT pg_current_snapshot()::text", {});
        if (!answer) {
            throw std::runtime_error(answer.error->text);
        }
        const auto snapshot = answer.rows.at(0, 0);
        if (std::ranges::all_of(rows, [&](const wanted& row) {
                return row.transaction == 0 || visible_in(snapshot, row.transaction);
            })) {
            return;
        }
        servers_.sleep(pause);
    }
}

std::vector<std::optional<source_row>> source_reader::reread(std::span<const wanted> rows) {
    std::vector<std::optional<source_row>> found(rows.size());
    if (rows.empty()) {
        return found;
    }
    await_visible(rows);
    std::vector<std::optional<std::string>> parameters;
    std::string arrays;
    std::string match;
    for (std::size_t i = 0; i < plan_.layout.key.size(); ++i) {
        const auto& column = plan_.layout.key[i];
        std::vector<std::string> texts;
        texts.reserve(rows.size());
        for (const auto& row : rows) {
            texts.push_back(text_of(column, (*row.key)[i]));
        }
        parameters.emplace_back(text_array(texts));
        const auto name = std::to_string(i + 1);
        arrays += (i == 0 ? "$" : ", $") + name + "::" + column.type + "[]";
        match += (i == 0 ? "" : " AND ") + ("t." + quoted_name(column.name)) + " = w.k" + name;
    }
    std::string names;
    for (std::size_t i = 0; i < plan_.layout.key.size(); ++i) {
        names += "k" + std::to_string(i + 1) + ", ";
    }
    const auto answer = asked(
        "SELECT w.i::int4, " + columns("t.") + " FROM unnest(" + arrays +
            ") WITH ORDINALITY AS w(" + names + "i) JOIN " + table_ + " AS t ON " + match,
        parameters
    );
    for (int row = 0; row < answer.rows.size(); ++row) {
        found[big_endian(answer.rows.at(row, 0)) - 1] = row_at(answer.rows, row, 1);
    }
    return found;
}

source_page source_reader::read_page(const key_range& range, std::size_t limit) {
    std::vector<std::optional<std::string>> parameters;
    std::string where;
    const auto bound = [&](const std::optional<std::vector<std::string>>& end, const char* op) {
        if (end) {
            where += (where.empty() ? " WHERE (" : " AND (") + keys_ + ") " + op + " " +
                     row_of_parameters(plan_, parameters.size() + 1);
            parameters.insert(parameters.end(), end->begin(), end->end());
        }
    };
    bound(range.low, ">");
    bound(range.high, "<=");
    const auto answer = asked(
        "SELECT " + columns("") + " FROM " + table_ + where + " ORDER BY " + keys_ + " LIMIT " +
            std::to_string(limit),
        parameters
    );
    source_page page;
    page.rows.reserve(static_cast<std::size_t>(answer.rows.size()));
    for (int row = 0; row < answer.rows.size(); ++row) {
        page.rows.push_back(row_at(answer.rows, row, 0));
    }
    if (page.rows.size() == limit) {
        page.last.emplace();
        for (std::size_t i = 0; i < plan_.layout.key.size(); ++i) {
            page.last->push_back(text_of(plan_.layout.key[i], page.rows.back().key[i]));
        }
    }
    return page;
}

// Sorting by the plain column's name would sort by the text of that name beside it.
std::string source_reader::key_texts(const char* order, std::string& sorted) const {
    std::string texts;
    for (const auto& column : plan_.layout.key) {
        const auto name = "t." + quoted_name(column.name);
        texts += (texts.empty() ? "" : ", ") + name + "::text";
        sorted += (sorted.empty() ? "" : ", ") + name + order;
    }
    return texts;
}

std::vector<std::string> source_reader::key_at(const sql_rows& rows, int row) const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < plan_.layout.key.size(); ++i) {
        texts.emplace_back(rows.at(row, static_cast<int>(i)));
    }
    return texts;
}

std::vector<std::vector<std::string>> source_reader::cuts(std::size_t parts) {
    std::vector<std::vector<std::string>> bounds;
    if (parts < 2) {
        return bounds;
    }
    // A few thousand rows from all over the table are enough to cut it evenly.
    const auto rows = static_cast<double>(std::max<std::uint64_t>(1, estimated_rows()));
    const double percent = std::clamp(100.0 * 5000.0 / rows, 0.01, 100.0);
    std::string sorted;
    const auto texts = key_texts("", sorted);
    const auto answer = primary_.run(
        "SELECT " + texts + " FROM " + table_ + " AS t TABLESAMPLE SYSTEM (" +
            std::to_string(percent) + ") ORDER BY " + sorted,
        {}
    );
    if (!answer) {
        throw std::runtime_error(answer.error->text);
    }
    const auto all = static_cast<std::size_t>(answer.rows.size());
    for (std::size_t part = 1; part < parts && all >= parts; ++part) {
        bounds.push_back(key_at(answer.rows, static_cast<int>(all * part / parts)));
    }
    return bounds;
}

std::optional<std::vector<std::string>> source_reader::last_key() {
    std::string sorted;
    const auto texts = key_texts(" DESC", sorted);
    const auto answer = primary_.run(
        "SELECT " + texts + " FROM " + table_ + " AS t ORDER BY " + sorted + " LIMIT 1",
        {}
    );
    if (!answer) {
        throw std::runtime_error(answer.error->text);
    }
    if (answer.rows.size() == 0) {
        return std::nullopt;
    }
    return key_at(answer.rows, 0);
}

std::uint64_t source_reader::estimated_rows() {
    const auto answer = primary_.run(
        "SELECT sum(greatest(0, reltuples))::int8 FROM pg_class WHERE oid = $1::oid OR oid IN "
        "(SELECT relid FROM pg_partition_tree($1::oid))",
        std::vector<std::optional<std::string>>{std::to_string(plan_.table_oid)}
    );
    if (!answer) {
        throw std::runtime_error(answer.error->text);
    }
    return answer.rows.size() == 0 ? 0 : number(answer.rows.at(0, 0));
}

}  // namespace weir::migration
