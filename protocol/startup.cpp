#include "protocol/startup.hpp"

#include "protocol/backend.hpp"

#include <algorithm>
#include <cassert>
#include <string>

namespace weir::protocol {
namespace {

constexpr std::size_t length_size = 4;
constexpr std::size_t min_body = 4;
constexpr std::size_t max_body = 10'000;
constexpr std::size_t min_key = 4;
constexpr std::size_t max_key = 256;
constexpr std::size_t max_name = 63;

// Request codes look like version 1234 of the protocol.
constexpr std::uint32_t cancel_code = 1234U << 16U | 5678U;
constexpr std::uint32_t ssl_code = 1234U << 16U | 5679U;
constexpr std::uint32_t gssenc_code = 1234U << 16U | 5680U;

constexpr std::string_view option_prefix = "_pq_.";

void expect_code(byte_reader& reader, std::uint32_t code) noexcept {
    if (reader.u32() != code) {
        reader.fail(errc::bad_value);
    }
}

template <class Request>
result<Request> decode_code_only(byte_span body, std::uint32_t code) noexcept {
    byte_reader reader(body);
    expect_code(reader, code);
    if (const auto ec = reader.finish()) {
        return ec;
    }
    return Request{};
}

void encode_code_only(byte_writer& writer, std::uint32_t code) {
    const auto packet = writer.packet();
    writer.u32(code);
}

// PostgreSQL's booleans: any beginning of these words that tells them apart, in any case.
bool means_false(std::string_view value) noexcept {
    const auto begins = [&](std::string_view word, std::size_t at_least) {
        return value.size() >= at_least && value.size() <= word.size() &&
               std::equal(value.begin(), value.end(), word.begin(), [](char given, char wanted) {
                   return (given >= 'A' && given <= 'Z' ? given - 'A' + 'a' : given) == wanted;
               });
    };
    return begins("false", 1) || begins("no", 1) || begins("off", 2) || value == "0";
}

}  // namespace

result<ssl_request> ssl_request::decode(byte_span body) noexcept {
    return decode_code_only<ssl_request>(body, ssl_code);
}

void ssl_request::encode(byte_writer& writer) {
    encode_code_only(writer, ssl_code);
}

result<gssenc_request> gssenc_request::decode(byte_span body) noexcept {
    return decode_code_only<gssenc_request>(body, gssenc_code);
}

void gssenc_request::encode(byte_writer& writer) {
    encode_code_only(writer, gssenc_code);
}

result<cancel_request> cancel_request::decode(byte_span body) noexcept {
    byte_reader reader(body);
    expect_code(reader, cancel_code);
    cancel_request request;
    request.pid = reader.i32();
    request.key = reader.rest();
    if (request.key.size() < min_key || request.key.size() > max_key) {
        reader.fail(errc::bad_cancel_key);
    }
    if (const auto ec = reader.finish()) {
        return ec;
    }
    return request;
}

void cancel_request::encode(byte_writer& writer) const {
    assert(key.size() >= min_key && key.size() <= max_key);
    const auto packet = writer.packet();
    writer.u32(cancel_code);
    writer.i32(pid);
    writer.bytes(key);
}

std::optional<std::string_view> startup_message::parameter(std::string_view name) const noexcept {
    const auto found = std::find_if(parameters.rbegin(), parameters.rend(), [&](const auto& each) {
        return each.first == name;
    });
    return found == parameters.rend() ? std::nullopt : std::optional(found->second);
}

std::string_view startup_message::user() const noexcept {
    return parameter("user").value_or("").substr(0, max_name);
}

std::string_view startup_message::database() const noexcept {
    const auto named = parameter("database").value_or("").substr(0, max_name);
    return named.empty() ? user() : named;
}

bool startup_message::wants_replication() const noexcept {
    const auto value = parameter("replication");
    return value && !means_false(*value);
}

result<startup_message> startup_message::decode(byte_span body) {
    byte_reader reader(body);
    startup_message message;
    message.version.major = reader.u16();
    message.version.minor = reader.u16();
    while (reader.ok()) {
        const auto name = reader.cstring();
        if (name.empty()) {
            break;
        }
        const auto value = reader.cstring();
        message.parameters.emplace_back(name, value);
    }
    if (reader.error() == errc::unterminated_string || reader.remaining() != 0) {
        return errc::bad_startup_layout;
    }
    if (const auto ec = reader.finish()) {
        return ec;
    }
    return message;
}

void startup_message::encode(byte_writer& writer) const {
    const auto packet = writer.packet();
    writer.u32(version.word());
    for (const auto& [name, value] : parameters) {
        assert(!name.empty());
        writer.cstring(name);
        writer.cstring(value);
    }
    writer.u8(0);
}

result<std::size_t> first_packet_size(byte_span bytes) noexcept {
    byte_reader reader(bytes);
    const std::size_t size = reader.u32();
    if (const auto ec = reader.error()) {
        return ec;
    }
    if (size < length_size + min_body || size > length_size + max_body) {
        return errc::bad_length;
    }
    return size;
}

result<first_packet> decode_first_packet(byte_span body) {
    const auto widen = [](auto&& decoded) -> result<first_packet> {
        if (!decoded) {
            return decoded.error();
        }
        return first_packet(std::move(*decoded));
    };
    byte_reader reader(body);
    const auto code = reader.u32();
    if (const auto ec = reader.error()) {
        return ec;
    }
    switch (code) {
    case ssl_code: return widen(ssl_request::decode(body));
    case gssenc_code: return widen(gssenc_request::decode(body));
    case cancel_code: return widen(cancel_request::decode(body));
    default: break;
    }
    const protocol_version version{
        .major = static_cast<std::uint16_t>(code >> 16U),
        .minor = static_cast<std::uint16_t>(code)};
    if (version.major != protocol_version{}.major) {
        return first_packet(unsupported_version{.version = version});
    }
    return widen(startup_message::decode(body));
}

negotiation negotiate(const startup_message& asked, std::uint16_t newest) {
    negotiation outcome;
    outcome.version = asked.version;
    outcome.version.minor = std::min(asked.version.minor, newest);
    if (outcome.version.minor == 1) {
        outcome.version.minor = 0;
    }
    for (const auto& [name, value] : asked.parameters) {
        if (name.substr(0, option_prefix.size()) == option_prefix) {
            outcome.unknown_options.push_back(name);
        }
    }
    outcome.needed = outcome.version != asked.version || !outcome.unknown_options.empty();
    return outcome;
}

void encode_negotiation(byte_writer& writer, const negotiation& outcome) {
    std::string options;
    for (const auto name : outcome.unknown_options) {
        options.append(name).push_back('\0');
    }
    backend::negotiate_protocol_version{
        .version = outcome.version.word(),
        .option_count = static_cast<std::int32_t>(outcome.unknown_options.size()),
        .options = options,
    }
        .encode(writer);
}

}  // namespace weir::protocol
