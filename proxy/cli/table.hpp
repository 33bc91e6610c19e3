// Rows of an answer as a table for people or as JSON for programs. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::proxy::cli {

enum class column_kind : std::uint8_t { text, number, boolean };

struct table {
    struct column {
        std::string name;
        column_kind kind = column_kind::text;
    };

    std::vector<column> columns;
    std::vector<std::vector<std::optional<std::string>>> rows;  // nullopt: NULL
};

// Columns as wide as their widest value, numbers to the right, NULL empty. Ends with a line end.
[[nodiscard]] std::string to_text(const table& from);
// An array of objects. Numbers and booleans are written as such.
[[nodiscard]] std::string to_json(const table& from);

}  // namespace weir::proxy::cli
