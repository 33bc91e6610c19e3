#include "routing/catalog.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weir::routing {

namespace {

using row_view = std::span<const std::string_view>;

std::optional<origin> parse_origin(std::string_view text) {
    if (text == "b") {
        return origin::built_in;
    }
    if (text == "e") {
        return origin::trusted_extension;
    }
    return text == "u" ? std::optional(origin::user) : std::nullopt;
}

std::optional<volatility> parse_volatility(std::string_view text) {
    if (text == "i") {
        return volatility::immutable;
    }
    if (text == "s") {
        return volatility::stable;
    }
    return text == "v" ? std::optional(volatility::changing) : std::nullopt;
}

// schema, name, volatility, origin
std::optional<catalog_function> parse_function(row_view row) {
    const auto changes = parse_volatility(row[2]);
    const auto from = parse_origin(row[3]);
    if (!changes || !from || row[1].empty()) {
        return std::nullopt;
    }
    return catalog_function{std::string(row[0]), std::string(row[1]), *from, *changes};
}

relation_name name_at(row_view row, std::size_t column) {
    return {std::string(row[column]), std::string(row[column + 1])};
}

template <class Entry>
std::vector<Entry>& entries(by_name<Entry>& map, std::string_view name) {
    const auto found = map.find(name);
    return found != map.end() ? found->second : map[std::string(name)];
}

// Rows that say more about an object come after the row of the object itself; otherwise it is not
// there (it appeared between two queries) and stays unknown, which means the primary.
template <class Entry>
Entry* find(by_name<Entry>& map, row_view row) {
    const auto found = map.find(row[1]);
    if (found == map.end()) {
        return nullptr;
    }
    const auto entry =
        std::find_if(found->second.begin(), found->second.end(), [&](const Entry& e) {
            return e.schema == row[0];
        });
    return entry == found->second.end() ? nullptr : &*entry;
}

std::size_t columns_of(catalog_rows rows) {
    for (const auto& query : catalog_queries()) {
        if (query.rows == rows) {
            return query.columns;
        }
    }
    return 0;
}

bool is_flag(std::string_view text) {
    return text == "t" || text == "f";
}

}  // namespace

body_ptr catalog_builder::parse(std::string_view before, std::string_view text) const {
    std::string sql(before);
    sql += text;
    return std::make_shared<const traits>(parse_(sql));
}

bool catalog_builder::add_function(row_view row) {
    auto function = parse_function(row);
    if (!function) {
        return false;
    }
    entries(catalog_.functions, row[1]).push_back(std::move(*function));
    return true;
}

bool catalog_builder::add_operator(row_view row) {
    auto function = parse_function(row.subspan(2));
    if (!function) {
        return false;
    }
    entries(catalog_.operators, row[1]).push_back({std::string(row[0]), std::move(*function)});
    return true;
}

bool catalog_builder::add_cast(row_view row) {
    if (row[0] == "i") {
        catalog_.implicit_casts.push_back(name_at(row, 3));
        return true;
    }
    if (auto* const type = find(catalog_.types, row.subspan(1)); type != nullptr) {
        type->casts.push_back(name_at(row, 3));
    }
    return row[0] == "a" || row[0] == "e";
}

bool catalog_builder::add(catalog_rows rows, row_view row) {
    const bool right = row.size() == columns_of(rows) && dispatch(rows, row);
    wrong_ = wrong_ || !right;
    return right;
}

bool catalog_builder::dispatch(catalog_rows rows, row_view row) {
    switch (rows) {
    case catalog_rows::functions: return add_function(row);
    case catalog_rows::operators: return add_operator(row);
    case catalog_rows::casts: return add_cast(row);
    case catalog_rows::types:
        entries(catalog_.types, row[1])
            .push_back({std::string(row[0]), row[2] == "t", name_at(row, 3), {}, {}});
        return is_flag(row[2]);
    case catalog_rows::domain_checks:
        if (auto* const type = find(catalog_.types, row); type != nullptr) {
            type->checks.push_back(parse("SELECT ", row[2]));
        }
        return true;
    case catalog_rows::relations:
        if (row[2].size() != 1 || row[3].size() != 1 || !is_flag(row[4])) {
            return false;
        }
        entries(catalog_.relations, row[1])
            .push_back({std::string(row[0]), row[2][0], row[3][0], row[4] == "t", {}, {}, {}});
        return true;
    case catalog_rows::views:
    case catalog_rows::policies:
        if (auto* const relation = find(catalog_.relations, row); relation != nullptr) {
            relation->bodies.push_back(parse(rows == catalog_rows::views ? "" : "SELECT ", row[2]));
        }
        return true;
    case catalog_rows::inheritance:
        if (auto* const relation = find(catalog_.relations, row); relation != nullptr) {
            relation->children.push_back(name_at(row, 2));
        }
        return true;
    case catalog_rows::row_functions:
        if (auto* const relation = find(catalog_.relations, row); relation != nullptr) {
            relation->row_functions.push_back(name_at(row, 2));
        }
        return true;
    }
    return false;
}

catalog_ptr catalog_builder::build(std::string version) {
    const bool complete = !catalog_.functions.empty() && !catalog_.operators.empty() &&
                          !catalog_.types.empty() && !catalog_.relations.empty();
    catalog built = std::exchange(catalog_, {});
    if (std::exchange(wrong_, false) || !complete) {
        return nullptr;
    }
    built.version = std::move(version);
    return std::make_shared<const catalog>(std::move(built));
}

}  // namespace weir::routing
