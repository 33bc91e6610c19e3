#include "protocol/print.hpp"

#include "protocol/startup.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace weir::protocol {
namespace {

constexpr std::size_t longest_name = 80;
constexpr std::size_t longest_word = 20;

bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string bytes_text(std::size_t count) {
    return std::to_string(count) + " bytes";
}

// In quotes, cut, and without anything that could end the line or colour a terminal.
std::string quoted(std::string_view name) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "\"";
    for (const char c : name.substr(0, longest_name)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F) {
            text.append("\\x").push_back(digits[byte >> 4U]);
            text.push_back(digits[byte & 15U]);
        } else if (c == '"' || c == '\\') {
            text.append(1, '\\').push_back(c);
        } else {
            text.push_back(c);
        }
    }
    return text + (name.size() > longest_name ? "\"..." : "\"");
}

std::string named(std::string_view label, std::string_view name) {
    return ' ' + std::string(label) + '=' + quoted(name);
}

std::string counted(std::string_view label, std::size_t count) {
    return ' ' + std::string(label) + '=' + std::to_string(count);
}

// The first word, which says what kind of statement it is, and the size. More could be a secret.
std::string query_text(std::string_view text) {
    const auto space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    const auto* const first = std::find_if_not(text.begin(), text.end(), space);
    const auto* const last = std::find_if_not(first, text.end(), is_letter);
    const std::string_view word(first, static_cast<std::size_t>(last - first));
    const auto shown = word.size() > longest_word ? std::string_view() : word;
    return (shown.empty() ? std::string() : ' ' + std::string(shown)) + ' ' +
           bytes_text(text.size());
}

template <class Decoded, class Print>
std::string line(std::string_view name, const Decoded& decoded, Print print) {
    if (!decoded) {
        return std::string(name) + " malformed: " + decoded.error().message();
    }
    return std::string(name) + print(*decoded);
}

std::string object_text(frontend::object object, std::string_view name) {
    return named(object == frontend::object::portal ? "portal" : "statement", name);
}

// A Bind may be here only in part: as far as it goes.
std::string print_bind(byte_span body) {
    return line("Bind", frontend::bind_head::decode(body), [&](const auto& head) {
        auto text = named("portal", head.portal) + named("statement", head.statement);
        byte_reader tail(body.subspan(head.size));
        static_cast<void>(tail.bytes(std::size_t{tail.u16()} * 2));
        const std::size_t parameters = tail.u16();
        return tail.ok() ? text + counted("parameters", parameters) : text;
    });
}

std::string print_copy_or_end(frontend::kind type, std::size_t size) {
    using frontend::kind;
    switch (type) {
    case kind::copy_data: return "CopyData " + bytes_text(size);
    case kind::copy_done: return "CopyDone";
    case kind::copy_fail: return "CopyFail";
    case kind::flush: return "Flush";
    case kind::password: return "Password " + bytes_text(size);
    case kind::sync: return "Sync";
    case kind::terminate: return "Terminate";
    default: break;
    }
    return "Unknown " + quoted(std::string(1, static_cast<char>(type))) + ' ' + bytes_text(size);
}

std::string_view status_text(backend::transaction_status status) noexcept {
    switch (status) {
    case backend::transaction_status::idle: return " idle";
    case backend::transaction_status::in_transaction: return " in transaction";
    case backend::transaction_status::failed: return " failed";
    }
    return "";
}

std::string_view method_text(backend::authentication_kind method) noexcept {
    using backend::authentication_kind;
    switch (method) {
    case authentication_kind::ok: return " ok";
    case authentication_kind::cleartext_password: return " cleartext";
    case authentication_kind::md5_password: return " md5";
    case authentication_kind::sasl: return " sasl";
    case authentication_kind::sasl_continue: return " sasl continue";
    case authentication_kind::sasl_final: return " sasl final";
    }
    return "";
}

std::string print_response(std::string_view name, byte_span body) {
    return line(name, backend::response_fields::decode(body), [](const auto& fields) {
        const auto routine = fields.routine();
        return ' ' + std::string(fields.sqlstate().text()) + named("severity", fields.severity()) +
               (routine.empty() ? std::string() : named("routine", routine));
    });
}

// RowDescription, DataRow and ParameterDescription begin with a count.
std::string print_counted(std::string_view name, byte_span body) {
    byte_reader reader(body);
    const std::size_t count = reader.u16();
    return std::string(name) + counted("count", count) + ' ' + bytes_text(body.size());
}

// Messages of which the name, or name and size, say all.
std::string print_plain(backend::kind type, std::size_t size) {
    using backend::kind;
    switch (type) {
    case kind::bind_complete: return "BindComplete";
    case kind::close_complete: return "CloseComplete";
    case kind::copy_both_response: return "CopyBothResponse";
    case kind::copy_data: return "CopyData " + bytes_text(size);
    case kind::copy_done: return "CopyDone";
    case kind::copy_in_response: return "CopyInResponse";
    case kind::copy_out_response: return "CopyOutResponse";
    case kind::empty_query_response: return "EmptyQueryResponse";
    case kind::function_call_response: return "FunctionCallResponse " + bytes_text(size);
    case kind::no_data: return "NoData";
    case kind::parse_complete: return "ParseComplete";
    case kind::portal_suspended: return "PortalSuspended";
    default: break;
    }
    return "Unknown " + quoted(std::string(1, static_cast<char>(type))) + ' ' + bytes_text(size);
}

std::string print_startup(const startup_message& message) {
    auto text = ' ' + std::to_string(message.version.major) + '.' +
                std::to_string(message.version.minor) + named("user", message.user()) +
                named("database", message.database());
    for (const auto& [name, value] : message.parameters) {
        if (name != "user" && name != "database") {
            text.append(" ").append(quoted(name));
        }
    }
    return text;
}

struct first_packet_printer {
    std::string operator()(const ssl_request&) const { return "SSLRequest"; }

    std::string operator()(const gssenc_request&) const { return "GSSENCRequest"; }

    std::string operator()(const cancel_request& request) const {
        return "CancelRequest pid=" + std::to_string(request.pid);
    }

    std::string operator()(const startup_message& message) const {
        return "StartupMessage" + print_startup(message);
    }

    std::string operator()(const unsupported_version& other) const {
        return "StartupMessage " + std::to_string(other.version.major) + '.' +
               std::to_string(other.version.minor) + " unsupported";
    }
};

}  // namespace

std::string print_frontend(char type, byte_span body) {
    using frontend::kind;
    switch (static_cast<kind>(type)) {
    case kind::bind: return print_bind(body);
    case kind::close:
        return line("Close", frontend::close::decode(body), [](const auto& message) {
            return object_text(message.object, message.name);
        });
    case kind::describe:
        return line("Describe", frontend::describe::decode(body), [](const auto& message) {
            return object_text(message.object, message.name);
        });
    case kind::execute:
        return line("Execute", frontend::execute::decode(body), [](const auto& message) {
            return named("portal", message.portal) +
                   " max_rows=" + std::to_string(message.max_rows);
        });
    case kind::function_call:
        return line("FunctionCall", frontend::function_call::decode(body), [](const auto& message) {
            return counted("function", message.function);
        });
    case kind::parse:
        return line("Parse", frontend::parse::decode(body), [](const auto& message) {
            return named("statement", message.name) + query_text(message.text) +
                   counted("types", message.oid_count());
        });
    case kind::query:
        return line("Query", frontend::query::decode(body), [](const auto& message) {
            return query_text(message.text);
        });
    default: return print_copy_or_end(static_cast<kind>(type), body.size());
    }
}

std::string print_backend(char type, byte_span body) {
    using backend::kind;
    switch (static_cast<kind>(type)) {
    case kind::authentication:
        return line(
            "Authentication",
            backend::authentication::decode(body),
            [](const auto& message) { return std::string(method_text(message.method)); }
        );
    case kind::backend_key_data:
        return line(
            "BackendKeyData",
            backend::backend_key_data::decode(body),
            [](const auto& message) { return " pid=" + std::to_string(message.pid); }
        );
    case kind::command_complete:
        return line(
            "CommandComplete",
            backend::command_complete::decode(body),
            [](const auto& message) { return ' ' + quoted(message.tag); }
        );
    case kind::data_row: return print_counted("DataRow", body);
    case kind::error_response: return print_response("ErrorResponse", body);
    case kind::negotiate_protocol_version:
        return line(
            "NegotiateProtocolVersion",
            backend::negotiate_protocol_version::decode(body),
            [](const auto& message) {
                return ' ' + std::to_string(message.version >> 16U) + '.' +
                       std::to_string(message.version & 0xFFFFU) +
                       " options=" + std::to_string(message.option_count);
            }
        );
    case kind::notice_response: return print_response("NoticeResponse", body);
    case kind::notification_response:
        return line(
            "NotificationResponse",
            backend::notification_response::decode(body),
            [](const auto& m) {
                return " pid=" + std::to_string(m.pid) + named("channel", m.channel) + ' ' +
                       bytes_text(m.payload.size());
            }
        );
    case kind::parameter_description: return print_counted("ParameterDescription", body);
    case kind::parameter_status:
        return line(
            "ParameterStatus",
            backend::parameter_status::decode(body),
            [](const auto& message) { return named(message.name, message.value); }
        );
    case kind::ready_for_query:
        return line(
            "ReadyForQuery",
            backend::ready_for_query::decode(body),
            [](const auto& message) { return std::string(status_text(message.status)); }
        );
    case kind::row_description: return print_counted("RowDescription", body);
    default: return print_plain(static_cast<kind>(type), body.size());
    }
}

std::string print_first_packet(byte_span body) {
    const auto packet = decode_first_packet(body);
    if (!packet) {
        return "first packet malformed: " + packet.error().message();
    }
    return std::visit(first_packet_printer{}, *packet);
}

}  // namespace weir::protocol
