#include "tests/integration/support/script.hpp"

namespace weir::integration {
namespace {

namespace frontend = protocol::frontend;
using buffer = std::vector<std::uint8_t>;

// Formats, values and result formats of a Bind.
std::string bind_tail(const parameter_values& values, value_format format) {
    buffer bytes;
    protocol::byte_writer writer(bytes);
    writer.u16(1);
    writer.u16(static_cast<std::uint16_t>(format));
    writer.u16(static_cast<std::uint16_t>(values.size()));
    for (const auto& value : values) {
        writer.i32(value ? static_cast<std::int32_t>(value->size()) : -1);
        writer.bytes(value ? std::string_view(*value) : std::string_view());
    }
    writer.u16(1);
    writer.u16(static_cast<std::uint16_t>(format));
    return std::string(protocol::as_text(bytes));
}

std::string network_order(const std::vector<std::uint32_t>& words) {
    buffer bytes;
    protocol::byte_writer writer(bytes);
    for (const auto word : words) {
        writer.u32(word);
    }
    return std::string(protocol::as_text(bytes));
}

}  // namespace

template <class Message>
script& script::add(const Message& message) {
    buffer bytes;
    protocol::byte_writer writer(bytes);
    message.encode(writer);
    bytes_ += protocol::as_text(bytes);
    return *this;
}

script& script::empty(frontend::kind type) {
    return message(static_cast<char>(type), {});
}

script& script::query(std::string_view text) {
    return add(frontend::query{.text = text});
}

script& script::parse(
    std::string_view name,
    std::string_view text,
    const std::vector<std::uint32_t>& types
) {
    const auto oids = network_order(types);
    return add(frontend::parse{.name = name, .text = text, .oids = oids});
}

script& script::bind(
    std::string_view portal,
    std::string_view statement,
    const parameter_values& values,
    value_format format
) {
    const auto tail = bind_tail(values, format);
    return add(frontend::bind{.portal = portal, .statement = statement, .tail = tail});
}

script& script::describe_statement(std::string_view name) {
    return add(frontend::describe{.object = frontend::object::statement, .name = name});
}

script& script::describe_portal(std::string_view name) {
    return add(frontend::describe{.object = frontend::object::portal, .name = name});
}

script& script::execute(std::string_view portal, std::int32_t max_rows) {
    return add(frontend::execute{.portal = portal, .max_rows = max_rows});
}

script& script::close_statement(std::string_view name) {
    return add(frontend::close{.object = frontend::object::statement, .name = name});
}

script& script::close_portal(std::string_view name) {
    return add(frontend::close{.object = frontend::object::portal, .name = name});
}

script& script::copy_data(std::string_view data) {
    return message(static_cast<char>(frontend::kind::copy_data), data);
}

script& script::copy_fail(std::string_view reason) {
    return add(frontend::copy_fail{.reason = reason});
}

script& script::message(char type, std::string_view body) {
    header(type, static_cast<std::uint32_t>(body.size() + 4));
    return raw(body);
}

script& script::header(char type, std::uint32_t length) {
    buffer bytes;
    protocol::byte_writer writer(bytes);
    writer.u8(static_cast<std::uint8_t>(type));
    writer.u32(length);
    return raw(protocol::as_text(bytes));
}

script& script::raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
}

script& script::extended(std::string_view text, const parameter_values& values) {
    return parse("", text).bind("", "", values).describe_portal("").execute("").sync();
}

}  // namespace weir::integration
