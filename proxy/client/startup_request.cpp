#include "proxy/client/startup_request.hpp"

#include "protocol/startup_options.hpp"
#include "proxy/client/own_settings.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace weir::proxy::client {
namespace {

constexpr std::string_view protocol_option_prefix = "_pq_.";
// Not settings: who logs in where, and how.
constexpr std::array<std::string_view, 4> reserved{"user", "database", "options", "replication"};

std::string lower(std::string_view name) {
    std::string text(name);
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

bool begins_word(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || byte >= 0x80;
}

std::optional<protocol::diagnostic>
add(startup_settings& settings, std::string_view name, std::string_view value) {
    if (!is_setting_name(name)) {
        return protocol::diagnostic{
            .level = protocol::severity::fatal,
            .code = protocol::sqlstates::undefined_object,
            .message = "unrecognized configuration parameter \"" + std::string(name) + "\"",
            .detail = {},
            .hint = {}};
    }
    auto plain = lower(name);
    if (routing::is_own_setting(plain)) {
        if (auto wrong = check_own_setting(plain, value)) {
            wrong->level = protocol::severity::fatal;
            return wrong;
        }
    }
    settings.emplace_back(std::move(plain), value);
    return std::nullopt;
}

}  // namespace

bool is_setting_name(std::string_view name) noexcept {
    bool at_word = true;
    for (const char c : name) {
        if (at_word ? !begins_word(c)
                    : !begins_word(c) && !(c >= '0' && c <= '9') && c != '$' && c != '.') {
            return false;
        }
        at_word = !at_word && c == '.';
    }
    return !at_word;
}

boost::system::result<startup_settings, protocol::diagnostic> read_startup_settings(
    const protocol::startup_message& message
) {
    startup_settings settings;
    const auto options = protocol::parse_startup_options(message.parameter("options").value_or(""));
    if (!options) {
        return options.error();
    }
    for (const auto& option : *options) {
        if (const auto wrong = add(settings, option.name, option.value)) {
            return *wrong;
        }
    }
    for (const auto& [name, value] : message.parameters) {
        if (name.starts_with(protocol_option_prefix) ||
            std::find(reserved.begin(), reserved.end(), name) != reserved.end()) {
            continue;
        }
        if (const auto wrong = add(settings, name, value)) {
            return *wrong;
        }
    }
    return settings;
}

}  // namespace weir::proxy::client
