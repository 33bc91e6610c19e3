#include "protocol/backend.hpp"

#include <cassert>
#include <limits>

namespace weir::protocol {

std::string_view to_string(severity level) noexcept {
    switch (level) {
    case severity::error: return "ERROR";
    case severity::fatal: return "FATAL";
    case severity::panic: return "PANIC";
    case severity::warning: return "WARNING";
    case severity::notice: return "NOTICE";
    case severity::debug: return "DEBUG";
    case severity::info: return "INFO";
    case severity::log: return "LOG";
    }
    return "ERROR";
}

namespace backend {
namespace {

constexpr std::size_t md5_salt_size = 4;
constexpr std::size_t min_key_size = 4;
constexpr std::size_t max_key_size = 256;

byte_writer::open_message open(byte_writer& writer, kind type) {
    return writer.message(static_cast<char>(type));
}

// What `decode` returns: the value unless the reader met an error or was not at its end.
template <class T>
result<T> finished(byte_reader& reader, const T& value) noexcept {
    if (const auto ec = reader.finish()) {
        return ec;
    }
    return value;
}

// Reads zero-terminated names up to an empty one.
void check_mechanisms(byte_reader& reader) noexcept {
    while (reader.ok() && !reader.cstring().empty()) {
    }
}

void read_authentication_data(byte_reader& reader, authentication& message) noexcept {
    const auto before = reader;
    switch (message.method) {
    case authentication_kind::ok:
    case authentication_kind::cleartext_password: return;
    case authentication_kind::md5_password: message.data = reader.bytes(md5_salt_size); return;
    case authentication_kind::sasl: {
        check_mechanisms(reader);
        auto list = before;
        message.data = list.bytes(reader.offset() - before.offset());
        return;
    }
    case authentication_kind::sasl_continue:
    case authentication_kind::sasl_final: message.data = reader.rest(); return;
    }
    reader.fail(errc::unsupported_authentication);
}

void write_field(byte_writer& writer, char type, std::string_view text) {
    writer.u8(static_cast<std::uint8_t>(type));
    writer.cstring(text);
}

void encode_diagnostic(byte_writer& writer, kind type, const diagnostic& what) {
    const auto message = open(writer, type);
    write_field(writer, 'S', to_string(what.level));
    write_field(writer, 'V', to_string(what.level));
    write_field(writer, 'C', what.code.text());
    write_field(writer, 'M', what.message);
    if (!what.detail.empty()) {
        write_field(writer, 'D', what.detail);
    }
    if (!what.hint.empty()) {
        write_field(writer, 'H', what.hint);
    }
    writer.u8(0);
}

std::uint16_t count_word(std::size_t count) noexcept {
    assert(count <= std::numeric_limits<std::int16_t>::max());
    return static_cast<std::uint16_t>(count);
}

}  // namespace

bool authentication::offers(std::string_view mechanism) const noexcept {
    byte_reader reader(as_bytes(data));
    for (auto name = reader.cstring(); reader.ok() && !name.empty(); name = reader.cstring()) {
        if (name == mechanism) {
            return true;
        }
    }
    return false;
}

result<authentication> authentication::decode(byte_span body) noexcept {
    byte_reader reader(body);
    authentication message;
    message.method = static_cast<authentication_kind>(reader.i32());
    if (reader.ok()) {
        read_authentication_data(reader, message);
    }
    return finished(reader, message);
}

void authentication::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::authentication);
    writer.i32(static_cast<std::int32_t>(method));
    writer.bytes(data);
}

result<parameter_status> parameter_status::decode(byte_span body) noexcept {
    byte_reader reader(body);
    parameter_status message;
    message.name = reader.cstring();
    message.value = reader.cstring();
    return finished(reader, message);
}

void parameter_status::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::parameter_status);
    writer.cstring(name);
    writer.cstring(value);
}

result<backend_key_data> backend_key_data::decode(byte_span body) noexcept {
    byte_reader reader(body);
    backend_key_data message;
    message.pid = reader.i32();
    message.key = reader.rest();
    if (message.key.size() < min_key_size || message.key.size() > max_key_size) {
        reader.fail(errc::bad_cancel_key);
    }
    return finished(reader, message);
}

void backend_key_data::encode(byte_writer& writer) const {
    assert(key.size() >= min_key_size && key.size() <= max_key_size);
    const auto message = open(writer, kind::backend_key_data);
    writer.i32(pid);
    writer.bytes(key);
}

result<ready_for_query> ready_for_query::decode(byte_span body) noexcept {
    byte_reader reader(body);
    const auto status = static_cast<transaction_status>(reader.u8());
    const bool known = status == transaction_status::idle ||
                       status == transaction_status::in_transaction ||
                       status == transaction_status::failed;
    if (!known) {
        reader.fail(errc::bad_value);
    }
    return finished(reader, ready_for_query{.status = status});
}

void ready_for_query::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::ready_for_query);
    writer.u8(static_cast<std::uint8_t>(status));
}

result<command_complete> command_complete::decode(byte_span body) noexcept {
    byte_reader reader(body);
    const command_complete message{.tag = reader.cstring()};
    return finished(reader, message);
}

void command_complete::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::command_complete);
    writer.cstring(tag);
}

result<notification_response> notification_response::decode(byte_span body) noexcept {
    byte_reader reader(body);
    notification_response message;
    message.pid = reader.i32();
    message.channel = reader.cstring();
    message.payload = reader.cstring();
    return finished(reader, message);
}

void notification_response::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::notification_response);
    writer.i32(pid);
    writer.cstring(channel);
    writer.cstring(payload);
}

std::string_view response_fields::field(char type) const noexcept {
    byte_reader reader(as_bytes(raw));
    for (auto found = reader.u8(); reader.ok() && found != 0; found = reader.u8()) {
        const auto text = reader.cstring();
        if (found == static_cast<std::uint8_t>(type)) {
            return text;
        }
    }
    return {};
}

std::string_view response_fields::severity() const noexcept {
    const auto plain = field('V');
    return plain.empty() ? localized_severity() : plain;
}

bool response_fields::is_fatal() const noexcept {
    return severity() == to_string(severity::fatal) || severity() == to_string(severity::panic);
}

protocol::sqlstate response_fields::sqlstate() const noexcept {
    return protocol::sqlstate::parse(code()).value_or(sqlstates::internal_error);
}

result<response_fields> response_fields::decode(byte_span body) noexcept {
    byte_reader reader(body);
    while (reader.ok() && reader.u8() != 0) {
        static_cast<void>(reader.cstring());
    }
    return finished(reader, response_fields{.raw = as_text(body)});
}

void response_fields::encode(byte_writer& writer, kind type) const {
    const auto message = open(writer, type);
    writer.bytes(raw);
}

void encode_error(byte_writer& writer, const diagnostic& what) {
    encode_diagnostic(writer, kind::error_response, what);
}

void encode_notice(byte_writer& writer, const diagnostic& what) {
    encode_diagnostic(writer, kind::notice_response, what);
}

result<negotiate_protocol_version> negotiate_protocol_version::decode(byte_span body) noexcept {
    byte_reader reader(body);
    negotiate_protocol_version message;
    message.version = reader.u32();
    message.option_count = reader.i32();
    if (message.option_count < 0) {
        reader.fail(errc::bad_count);
    }
    message.options = as_text(body.subspan(reader.offset()));
    for (auto left = message.option_count; left > 0 && reader.ok(); --left) {
        static_cast<void>(reader.cstring());
    }
    return finished(reader, message);
}

void negotiate_protocol_version::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::negotiate_protocol_version);
    writer.u32(version);
    writer.i32(option_count);
    writer.bytes(options);
}

void encode_row_description(byte_writer& writer, std::span<const column> columns) {
    const auto message = open(writer, kind::row_description);
    writer.u16(count_word(columns.size()));
    for (const auto& each : columns) {
        writer.cstring(each.name);
        writer.u32(0);  // no table
        writer.u16(0);  // no column of a table
        writer.u32(each.type);
        writer.i16(each.type_size);
        writer.i32(-1);  // no type modifier
        writer.i16(each.format);
    }
}

void encode_data_row(byte_writer& writer, std::span<const std::optional<std::string_view>> values) {
    const auto message = open(writer, kind::data_row);
    writer.u16(count_word(values.size()));
    for (const auto& value : values) {
        writer.i32(value ? static_cast<std::int32_t>(value->size()) : -1);
        if (value) {
            writer.bytes(*value);
        }
    }
}

void encode_empty(byte_writer& writer, kind type) {
    const auto message = open(writer, type);
}

}  // namespace backend
}  // namespace weir::protocol
