// Messages from a server that are acted on, or that this program sends in a server's place.
// `decode` takes the body, which is what follows the length word; text and byte fields are views
// into it and live as long as it does. `encode` appends the whole message. Source: PostgreSQL
// documentation, "Message Formats" and "Error and Notice Message Fields".
#pragma once

#include "protocol/byte_reader.hpp"
#include "protocol/byte_writer.hpp"
#include "protocol/diagnostic.hpp"
#include "protocol/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weir::protocol::backend {

// Every type byte a server may send.
enum class kind : char {
    authentication = 'R',
    backend_key_data = 'K',
    bind_complete = '2',
    close_complete = '3',
    command_complete = 'C',
    copy_both_response = 'W',
    copy_data = 'd',
    copy_done = 'c',
    copy_in_response = 'G',
    copy_out_response = 'H',
    data_row = 'D',
    empty_query_response = 'I',
    error_response = 'E',
    function_call_response = 'V',
    negotiate_protocol_version = 'v',
    no_data = 'n',
    notice_response = 'N',
    notification_response = 'A',
    parameter_description = 't',
    parameter_status = 'S',
    parse_complete = '1',
    portal_suspended = 's',
    ready_for_query = 'Z',
    row_description = 'T',
};

enum class transaction_status : char { idle = 'I', in_transaction = 'T', failed = 'E' };

enum class authentication_kind : std::int32_t {
    ok = 0,
    cleartext_password = 3,
    md5_password = 5,
    sasl = 10,
    sasl_continue = 11,
    sasl_final = 12,
};

// Kerberos, GSSAPI and SSPI requests decode to errc::unsupported_authentication.
struct authentication {
    authentication_kind method = authentication_kind::ok;
    // md5: the salt, 4 bytes. sasl: the mechanisms, each zero-terminated, and a last zero.
    // sasl_continue, sasl_final: the mechanism's data.
    std::string_view data;
    // For sasl: is this mechanism in the list?
    [[nodiscard]] bool offers(std::string_view mechanism) const noexcept;
    [[nodiscard]] static result<authentication> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const authentication&, const authentication&) = default;
};

struct parameter_status {
    std::string_view name;
    std::string_view value;
    [[nodiscard]] static result<parameter_status> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const parameter_status&, const parameter_status&) = default;
};

struct backend_key_data {
    std::int32_t pid = 0;
    std::string_view key;  // 4 bytes in protocol 3.0, up to 256 from 3.2 on
    [[nodiscard]] static result<backend_key_data> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const backend_key_data&, const backend_key_data&) = default;
};

struct ready_for_query {
    transaction_status status = transaction_status::idle;
    [[nodiscard]] static result<ready_for_query> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const ready_for_query&, const ready_for_query&) = default;
};

struct command_complete {
    std::string_view tag;
    [[nodiscard]] static result<command_complete> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const command_complete&, const command_complete&) = default;
};

struct notification_response {
    std::int32_t pid = 0;
    std::string_view channel;
    std::string_view payload;
    [[nodiscard]] static result<notification_response> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const notification_response&, const notification_response&) = default;
};

// The fields of an ErrorResponse or NoticeResponse. Absent fields are empty.
struct response_fields {
    std::string_view raw;  // the body: type byte, text, zero, …, zero
    // Field of the given type byte; the first one if there are several.
    [[nodiscard]] std::string_view field(char type) const noexcept;

    [[nodiscard]] std::string_view localized_severity() const noexcept { return field('S'); }

    // 'V', which servers before 9.6 do not send; then 'S'.
    [[nodiscard]] std::string_view severity() const noexcept;

    [[nodiscard]] std::string_view code() const noexcept { return field('C'); }

    [[nodiscard]] std::string_view message() const noexcept { return field('M'); }

    [[nodiscard]] std::string_view detail() const noexcept { return field('D'); }

    [[nodiscard]] std::string_view hint() const noexcept { return field('H'); }

    [[nodiscard]] std::string_view routine() const noexcept { return field('R'); }

    // The severity after which the server closes the connection.
    [[nodiscard]] bool is_fatal() const noexcept;
    // "XX000" if the code is missing or malformed.
    [[nodiscard]] protocol::sqlstate sqlstate() const noexcept;
    [[nodiscard]] static result<response_fields> decode(byte_span body) noexcept;
    // The same fields again, as an error or as a notice.
    void encode(byte_writer& writer, kind type) const;
    friend bool operator==(const response_fields&, const response_fields&) = default;
};

void encode_error(byte_writer& writer, const diagnostic& what);
void encode_notice(byte_writer& writer, const diagnostic& what);

struct negotiate_protocol_version {
    std::uint32_t version = 0;  // major << 16 | minor
    std::int32_t option_count = 0;
    std::string_view options;  // names this side does not know, each zero-terminated
    [[nodiscard]] static result<negotiate_protocol_version> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const negotiate_protocol_version&, const negotiate_protocol_version&) =
        default;
};

inline constexpr std::uint32_t text_oid = 25;

// A column of a result that this program makes.
struct column {
    std::string_view name;
    std::uint32_t type = text_oid;
    std::int16_t type_size = -1;  // bytes, -1: variable
    std::int16_t format = 0;      // 0: text, 1: binary
};

void encode_row_description(byte_writer& writer, std::span<const column> columns);
// nullopt is NULL.
void encode_data_row(byte_writer& writer, std::span<const std::optional<std::string_view>> values);

// ParseComplete, BindComplete, CloseComplete, NoData, EmptyQueryResponse, PortalSuspended,
// CopyDone.
void encode_empty(byte_writer& writer, kind type);

}  // namespace weir::protocol::backend
