#include "migration/journal.hpp"
#include "migration/journal_text.hpp"

namespace weir::migration {

namespace {

std::optional<std::string> array_or_null(const std::optional<std::vector<std::string>>& key) {
    return key ? std::optional(text_array(*key)) : std::nullopt;
}

std::optional<std::vector<std::string>> key_at(const sql_rows& rows, int row, int column) {
    return rows.is_null(row, column) ? std::nullopt : parse_text_array(rows.at(row, column));
}

// An element off the front, up to its closing quote or the next comma.
std::optional<std::string> take_element(std::string_view& text) {
    const auto quoted = text.front() == '"';
    const auto end = quoted ? '"' : ',';
    std::string element;
    std::size_t at = quoted ? 1 : 0;
    while (at < text.size() && text[at] != end) {
        at += text[at] == '\\' ? 1U : 0U;
        if (at == text.size()) {
            return std::nullopt;
        }
        element += text[at++];
    }
    if (quoted ? at == text.size() : element == "NULL") {
        return std::nullopt;
    }
    text.remove_prefix(quoted ? at + 1 : at);
    return element;
}

}  // namespace

journal_result<void> journal::save_ranges(std::span<const copy_range> ranges) {
    for (const auto& range : ranges) {
        const auto written = fenced(
            "INSERT INTO pgweir.copy_range (migration, number, low, high, last, rows, done) SELECT "
            "$1, $3::integer, $4::text[], $5::text[], $6::text[], $7::bigint, $8::boolean WHERE "
            "EXISTS (SELECT FROM fence) ON CONFLICT (migration, number) DO UPDATE SET low = "
            "excluded.low, high = excluded.high, last = excluded.last, rows = excluded.rows, done "
            "= excluded.done",
            {std::to_string(range.number),
             array_or_null(range.keys.low),
             array_or_null(range.keys.high),
             array_or_null(range.last),
             std::to_string(range.rows),
             range.done ? "t" : "f"}
        );
        if (!written) {
            return written.error();
        }
    }
    return {};
}

journal_result<void> journal::save_progress(const copy_range& range) {
    const auto written = fenced(
        "UPDATE pgweir.copy_range SET last = $4::text[], rows = $5::bigint, done = $6::boolean "
        "WHERE migration = $1 AND number = $3::integer AND EXISTS (SELECT FROM fence)",
        {std::to_string(range.number),
         array_or_null(range.last),
         std::to_string(range.rows),
         range.done ? "t" : "f"}
    );
    if (!written) {
        return written.error();
    }
    if (*written == 0) {
        return journal_error{
            .what = journal_fault::refused,
            .text = "range " + std::to_string(range.number) + " of the copy of migration " +
                    migration_ + " is not in the journal"};
    }
    return {};
}

journal_result<std::vector<copy_range>> journal::ranges() {
    const auto rows = read(
        "SELECT number, low, high, last, rows, done FROM pgweir.copy_range "
        "WHERE migration = $1 ORDER BY number"
    );
    if (!rows) {
        return rows.error();
    }
    std::vector<copy_range> found;
    for (int row = 0; row < rows->size(); ++row) {
        copy_range& range = found.emplace_back();
        range.number = static_cast<std::int32_t>(number_of(rows->at(row, 0)));
        range.keys.low = key_at(*rows, row, 1);
        range.keys.high = key_at(*rows, row, 2);
        range.last = key_at(*rows, row, 3);
        range.rows = number_of(rows->at(row, 4));
        range.done = rows->at(row, 5) == "t";
    }
    return found;
}

journal_result<void> journal::drop_ranges() {
    const auto dropped = fenced(
        "DELETE FROM pgweir.copy_range WHERE migration = $1 AND EXISTS (SELECT FROM fence)",
        {}
    );
    if (!dropped) {
        return dropped.error();
    }
    return {};
}

std::optional<std::vector<std::string>> parse_text_array(std::string_view text) {
    if (text.size() < 2 || text.front() != '{' || text.back() != '}') {
        return std::nullopt;
    }
    text = text.substr(1, text.size() - 2);
    std::vector<std::string> elements;
    while (!text.empty()) {
        auto element = take_element(text);
        if (!element) {
            return std::nullopt;
        }
        elements.push_back(std::move(*element));
        if (text.empty()) {
            break;
        }
        // A comma, and something behind it.
        if (text.front() != ',' || text.size() == 1) {
            return std::nullopt;
        }
        text.remove_prefix(1);
    }
    return elements;
}

}  // namespace weir::migration
