#include "routing/setting_text.hpp"

#include "routing/lexer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace weir::routing {

namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), fold);
    return result;
}

// Lists whose elements SET quotes one by one, so that one literal with a comma in it would be one
// odd name.
bool is_name_list(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 6> lists = {
        "search_path",
        "temp_tablespaces",
        "local_preload_libraries",
        "session_preload_libraries",
        "shared_preload_libraries",
        "unix_socket_directories",
    };
    return std::find(lists.begin(), lists.end(), name) != lists.end();
}

constexpr std::string_view blanks = " \t\n\r\f\v";

std::string_view trim_front(std::string_view text) noexcept {
    const auto first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

// One element of a name list off the front of `rest`: quoted names exactly, others in lower case.
std::optional<std::string> take_name(std::string_view& rest) {
    std::string name;
    if (rest.front() != '"') {
        const auto end = std::min(rest.find_first_of(", \t\n\r\f\v"), rest.size());
        name = lower(rest.substr(0, end));
        rest.remove_prefix(end);
        return name.empty() ? std::nullopt : std::optional(name);
    }
    for (std::size_t i = 1; i < rest.size(); ++i) {
        if (rest[i] == '"' && (i + 1 == rest.size() || rest[i + 1] != '"')) {
            rest.remove_prefix(i + 1);
            return name;
        }
        i += rest[i] == '"' ? 1 : 0;
        name += rest[i];
    }
    return std::nullopt;
}

// Null if the text is no list of names; the server would refuse it then.
std::optional<std::vector<std::string>> split_names(std::string_view text) {
    std::vector<std::string> names;
    for (auto rest = trim_front(text); !rest.empty();) {
        auto name = take_name(rest);
        rest = trim_front(rest);
        if (!name || (!rest.empty() && rest.front() != ',')) {
            return std::nullopt;
        }
        names.push_back(std::move(*name));
        if (!rest.empty()) {
            rest = trim_front(rest.substr(1));
            if (rest.empty()) {
                return std::nullopt;
            }
        }
    }
    return names;
}

}  // namespace

std::string quote_literal(std::string_view text) {
    const bool escapes = text.find('\\') != std::string_view::npos;
    std::string result = escapes ? "E'" : "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') {
            result += c;
        }
        result += c;
    }
    result += '\'';
    return result;
}

std::string setting_value(std::string_view name, std::string_view text) {
    if (!is_name_list(name)) {
        return quote_literal(text);
    }
    const auto names = split_names(text);
    if (!names || names->empty()) {
        return quote_literal(text);
    }
    std::string list;
    for (const auto& element : *names) {
        list += (list.empty() ? "" : ", ") + quote_literal(element);
    }
    return list;
}

}  // namespace weir::routing
