#include "protocol/startup_options.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace weir::protocol {
namespace {

bool is_space(char c) noexcept {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> words;
    std::size_t at = 0;
    while (true) {
        while (at < text.size() && is_space(text[at])) {
            ++at;
        }
        if (at == text.size()) {
            return words;
        }
        std::string word;
        bool escaped = false;
        for (; at < text.size() && (escaped || !is_space(text[at])); ++at) {
            if (!escaped && text[at] == '\\') {
                escaped = true;
            } else {
                escaped = false;
                word.push_back(text[at]);
            }
        }
        words.push_back(std::move(word));
    }
}

diagnostic refuse(std::string message) {
    return {
        .level = severity::fatal,
        .code = sqlstates::syntax_error,
        .message = std::move(message),
        .detail = {},
        .hint = "Startup options may hold -c name=value, -cname=value and --name=value.",
    };
}

diagnostic refuse_word(std::string_view word) {
    return refuse("startup option \"" + std::string(word) + "\" is not supported");
}

// "name=value". `shown` is how the client wrote it.
boost::system::result<startup_setting, diagnostic>
parse_setting(std::string_view assignment, std::string_view shown) {
    const auto equal = assignment.find('=');
    if (equal == std::string_view::npos) {
        return refuse("startup option \"" + std::string(shown) + "\" has no value");
    }
    if (equal == 0) {
        return refuse("startup option \"" + std::string(shown) + "\" has no name");
    }
    startup_setting setting{
        .name = std::string(assignment.substr(0, equal)),
        .value = std::string(assignment.substr(equal + 1)),
    };
    std::replace(setting.name.begin(), setting.name.end(), '-', '_');
    return setting;
}

}  // namespace

boost::system::result<std::vector<startup_setting>, diagnostic> parse_startup_options(
    std::string_view text
) {
    const auto words = split(text);
    std::vector<startup_setting> settings;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        std::string shown(word);
        std::string_view assignment;
        if (word == "-c" && i + 1 < words.size()) {
            assignment = words[++i];
            shown.append(" ").append(assignment);
        } else if (word.size() > 2 && (word.starts_with("-c") || word.starts_with("--"))) {
            assignment = word.substr(2);
        } else if (word == "--" && i + 1 == words.size()) {
            break;  // "end of switches", and nothing follows
        } else {
            return refuse_word(word);
        }
        auto setting = parse_setting(assignment, shown);
        if (!setting) {
            return setting.error();
        }
        settings.push_back(std::move(*setting));
    }
    return settings;
}

}  // namespace weir::protocol
