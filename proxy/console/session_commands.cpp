#include "proxy/console/commands.hpp"

#include <algorithm>
#include <array>

namespace weir::proxy::console {

namespace {

// Settings of a session that drivers make when they connect; nothing here depends on them.
constexpr std::array<std::string_view, 14> harmless{
    "APPLICATION_NAME",
    "BYTEA_OUTPUT",
    "CLIENT_ENCODING",
    "CLIENT_MIN_MESSAGES",
    "DATESTYLE",
    "EXTRA_FLOAT_DIGITS",
    "INTERVALSTYLE",
    "LOCK_TIMEOUT",
    "NAMES",
    "SEARCH_PATH",
    "STANDARD_CONFORMING_STRINGS",
    "STATEMENT_TIMEOUT",
    "TIME",
    "TIMEZONE"};

std::string parameter_name(const tokens& arguments) {
    if (arguments.size() == 1 && arguments[0].kind != token_kind::string) {
        return upper(arguments[0].text);
    }
    const bool isolation = arguments.size() == 3 && is_word(arguments[0], "TRANSACTION") &&
                           is_word(arguments[1], "ISOLATION") && is_word(arguments[2], "LEVEL");
    return isolation ? "TRANSACTION_ISOLATION" : std::string();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> session_parameters(std::string_view user) {
    // libpq asks for a version it knows; psql prints the text. 15 is what the console's types and
    // messages are modelled on.
    return {
        {"server_version", "15.0 (pgweir " WEIR_VERSION ")"},
        {"server_encoding", "UTF8"},
        {"client_encoding", "UTF8"},
        {"application_name", ""},
        {"DateStyle", "ISO, MDY"},
        {"IntervalStyle", "postgres"},
        {"TimeZone", "UTC"},
        {"integer_datetimes", "on"},
        {"standard_conforming_strings", "on"},
        {"is_superuser", "off"},
        {"session_authorization", std::string(user)},
        {"default_transaction_read_only", "off"},
        {"in_hot_standby", "off"}};
}

std::optional<protocol::diagnostic> check_session_setting(const tokens& arguments) {
    std::size_t at = 0;
    while (at < arguments.size() &&
           (is_word(arguments[at], "SESSION") || is_word(arguments[at], "LOCAL"))) {
        ++at;
    }
    if (at == arguments.size()) {
        return syntax_error("syntax error at end of input");
    }
    const auto name = upper(arguments[at].text);
    const bool accepted = std::find(harmless.begin(), harmless.end(), name) != harmless.end() ||
                          name == "TRANSACTION" || name == "CHARACTERISTICS";
    if (accepted) {
        return std::nullopt;
    }
    protocol::diagnostic error;
    error.code = protocol::sqlstates::feature_not_supported;
    error.message = "the console cannot set \"" + arguments[at].text + "\"";
    error.hint = "Change the configuration file, then RELOAD.";
    return error;
}

std::optional<protocol::diagnostic> accept_anything(const tokens& arguments) {
    static_cast<void>(arguments);
    return std::nullopt;
}

asio::awaitable<answer> accept(const request& what) {
    static_cast<void>(what);
    co_return answer();
}

bool is_session_parameter(const tokens& arguments) {
    const auto name = parameter_name(arguments);
    const auto known = session_parameters({});
    return name == "TRANSACTION_ISOLATION" ||
           std::any_of(known.begin(), known.end(), [&](const auto& each) {
               return upper(each.first) == name;
           });
}

fields parameter_columns(const tokens& arguments) {
    const auto name = parameter_name(arguments);
    for (const auto& [known, value] : session_parameters({})) {
        if (upper(known) == name) {
            return {{.name = known}};
        }
    }
    return {{.name = "transaction_isolation"}};
}

asio::awaitable<answer> show_parameter(const request& what) {
    const auto name = parameter_name(what.arguments);
    std::string found = "read committed";
    for (const auto& [known, value] : session_parameters(what.user)) {
        if (upper(known) == name) {
            found = value;
        }
    }
    answer made;
    made.rows.push_back({cell(std::move(found))});
    co_return made;
}

}  // namespace weir::proxy::console
