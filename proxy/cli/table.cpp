#include "proxy/cli/table.hpp"

#include "proxy/logging.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace weir::proxy::cli {

namespace {

// Characters of a UTF-8 text: bytes that do not continue one.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

void pad(std::string& line, std::string_view text, std::size_t to, bool right) {
    const std::string blanks(to - std::min(to, width(text)), ' ');
    line.append(right ? blanks : "").append(text).append(right ? "" : blanks);
}

void end_line(std::string& text, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text.append(line).append("\n");
}

std::vector<std::size_t> widths(const table& from) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < from.columns.size(); ++i) {
        std::size_t widest = width(from.columns[i].name);
        for (const auto& each : from.rows) {
            widest = std::max(widest, width(each[i].value_or("")));
        }
        found.push_back(widest);
    }
    return found;
}

std::string json_value(const std::optional<std::string>& value, column_kind kind) {
    if (!value) {
        return "null";
    }
    if (kind == column_kind::boolean) {
        return *value == "t" ? "true" : "false";
    }
    const bool finite = value->find_first_not_of("0123456789+-.eE") == std::string::npos;
    if (kind == column_kind::number && finite) {
        return *value;
    }
    return "\"" + json_escape(*value) + "\"";
}

}  // namespace

std::string to_text(const table& from) {
    const auto columns = widths(from);
    std::string text;
    std::string names;
    std::string rule;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        names += i == 0 ? "" : "  ";
        rule += i == 0 ? "" : "  ";
        pad(names, from.columns[i].name, columns[i], from.columns[i].kind == column_kind::number);
        rule.append(columns[i], '-');
    }
    end_line(text, names);
    end_line(text, rule);
    for (const auto& each : from.rows) {
        std::string line;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            line += i == 0 ? "" : "  ";
            const bool right = from.columns[i].kind == column_kind::number;
            pad(line, each[i].value_or(""), columns[i], right);
        }
        end_line(text, line);
    }
    return text;
}

std::string to_json(const table& from) {
    std::string text = "[";
    for (const auto& each : from.rows) {
        text += text.size() == 1 ? "\n  {" : ",\n  {";
        for (std::size_t i = 0; i < from.columns.size(); ++i) {
            text.append(i == 0 ? "\"" : ", \"").append(json_escape(from.columns[i].name));
            text.append("\": ").append(json_value(each[i], from.columns[i].kind));
        }
        text += "}";
    }
    return text + (from.rows.empty() ? "]\n" : "\n]\n");
}

}  // namespace weir::proxy::cli
