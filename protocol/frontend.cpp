#include "protocol/frontend.hpp"

#include <cassert>
#include <limits>

namespace weir::protocol::frontend {
namespace {

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

object read_object(byte_reader& reader) noexcept {
    const auto value = static_cast<object>(reader.u8());
    if (reader.ok() && value != object::statement && value != object::portal) {
        reader.fail(errc::bad_value);
    }
    return value;
}

// A length in front of a value, and the value: -1 is null.
bind_parameter read_value(byte_reader& reader) noexcept {
    const auto length = reader.i32();
    if (length < -1) {
        reader.fail(errc::bad_count);
    }
    if (length < 0) {
        return {.null = true, .binary = false, .value = {}};
    }
    return {
        .null = false,
        .binary = false,
        .value = reader.bytes(static_cast<std::size_t>(length))};
}

// int16 count, then `count` format codes of two bytes. PostgreSQL reads these counts as unsigned.
std::string_view read_formats(byte_reader& reader) noexcept {
    return reader.bytes(std::size_t{reader.u16()} * 2);
}

// Format codes: none means text for all, one means the same for all.
bool is_binary(std::string_view formats, std::size_t index) noexcept {
    const auto count = formats.size() / 2;
    if (count == 0) {
        return false;
    }
    const auto at = count == 1 ? 0 : index;
    return at < count && formats[at * 2 + 1] == 1;
}

void check_bind_tail(byte_reader& reader) noexcept {
    static_cast<void>(read_formats(reader));
    for (auto left = reader.u16(); left > 0 && reader.ok(); --left) {
        static_cast<void>(read_value(reader));
    }
    static_cast<void>(read_formats(reader));
}

void check_call_tail(byte_reader& reader) noexcept {
    static_cast<void>(read_formats(reader));
    for (auto left = reader.u16(); left > 0 && reader.ok(); --left) {
        static_cast<void>(read_value(reader));
    }
    static_cast<void>(reader.u16());
}

}  // namespace

result<query> query::decode(byte_span body) noexcept {
    byte_reader reader(body);
    const query message{.text = reader.cstring()};
    return finished(reader, message);
}

void query::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::query);
    writer.cstring(text);
}

std::uint32_t parse::oid(std::size_t index) const noexcept {
    assert(index < oid_count());
    return byte_reader(as_bytes(oids.substr(index * 4, 4))).u32();
}

result<parse> parse::decode(byte_span body) noexcept {
    byte_reader reader(body);
    parse message;
    message.name = reader.cstring();
    message.text = reader.cstring();
    message.oids = reader.bytes(std::size_t{reader.u16()} * 4);
    return finished(reader, message);
}

void parse::encode(byte_writer& writer) const {
    assert(oid_count() <= std::numeric_limits<std::uint16_t>::max());
    const auto message = open(writer, kind::parse);
    writer.cstring(name);
    writer.cstring(text);
    writer.u16(static_cast<std::uint16_t>(oid_count()));
    writer.bytes(oids);
}

result<bind_head> bind_head::decode(byte_span body) noexcept {
    byte_reader reader(body);
    bind_head head;
    head.portal = reader.cstring();
    head.statement = reader.cstring();
    head.size = reader.offset();
    if (const auto ec = reader.error()) {
        return ec;
    }
    return head;
}

result<bind> bind::decode(byte_span body) noexcept {
    const auto head = bind_head::decode(body);
    if (!head) {
        return head.error();
    }
    const auto tail = body.subspan(head->size);
    byte_reader reader(tail);
    check_bind_tail(reader);
    return finished(
        reader,
        bind{.portal = head->portal, .statement = head->statement, .tail = as_text(tail)}
    );
}

void bind::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::bind);
    writer.cstring(portal);
    writer.cstring(statement);
    writer.bytes(tail);
}

result<bind_parameter> read_bind_parameter(std::string_view tail, std::size_t number) noexcept {
    byte_reader reader(as_bytes(tail));
    const auto formats = read_formats(reader);
    const std::size_t count = reader.u16();
    if (reader.ok() && (number == 0 || number > count)) {
        reader.fail(errc::bad_value);
    }
    bind_parameter parameter;
    for (std::size_t i = 0; i < number && reader.ok(); ++i) {
        parameter = read_value(reader);
    }
    if (const auto ec = reader.error()) {
        return ec;
    }
    parameter.binary = is_binary(formats, number - 1);
    return parameter;
}

result<describe> describe::decode(byte_span body) noexcept {
    byte_reader reader(body);
    describe message;
    message.object = read_object(reader);
    message.name = reader.cstring();
    return finished(reader, message);
}

void describe::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::describe);
    writer.u8(static_cast<std::uint8_t>(object));
    writer.cstring(name);
}

result<close> close::decode(byte_span body) noexcept {
    byte_reader reader(body);
    close message;
    message.object = read_object(reader);
    message.name = reader.cstring();
    return finished(reader, message);
}

void close::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::close);
    writer.u8(static_cast<std::uint8_t>(object));
    writer.cstring(name);
}

result<execute> execute::decode(byte_span body) noexcept {
    byte_reader reader(body);
    execute message;
    message.portal = reader.cstring();
    message.max_rows = reader.i32();
    return finished(reader, message);
}

void execute::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::execute);
    writer.cstring(portal);
    writer.i32(max_rows);
}

result<function_call> function_call::decode(byte_span body) noexcept {
    byte_reader reader(body);
    function_call message;
    message.function = reader.u32();
    message.tail = as_text(body.subspan(reader.offset()));
    check_call_tail(reader);
    return finished(reader, message);
}

void function_call::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::function_call);
    writer.u32(function);
    writer.bytes(tail);
}

result<password> password::decode(byte_span body) noexcept {
    byte_reader reader(body);
    const password message{.value = reader.cstring()};
    return finished(reader, message);
}

void password::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::password);
    writer.cstring(value);
}

result<sasl_initial_response> sasl_initial_response::decode(byte_span body) noexcept {
    byte_reader reader(body);
    sasl_initial_response message;
    message.mechanism = reader.cstring();
    const auto data = read_value(reader);
    message.has_data = !data.null;
    message.data = data.value;
    return finished(reader, message);
}

void sasl_initial_response::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::password);
    writer.cstring(mechanism);
    writer.i32(has_data ? static_cast<std::int32_t>(data.size()) : -1);
    if (has_data) {
        writer.bytes(data);
    }
}

result<sasl_response> sasl_response::decode(byte_span body) noexcept {
    return sasl_response{.data = as_text(body)};
}

void sasl_response::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::password);
    writer.bytes(data);
}

result<copy_fail> copy_fail::decode(byte_span body) noexcept {
    byte_reader reader(body);
    const copy_fail message{.reason = reader.cstring()};
    return finished(reader, message);
}

void copy_fail::encode(byte_writer& writer) const {
    const auto message = open(writer, kind::copy_fail);
    writer.cstring(reason);
}

void encode_empty(byte_writer& writer, kind type) {
    const auto message = open(writer, type);
}

}  // namespace weir::protocol::frontend
