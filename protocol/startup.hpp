// The first packets of a connection. They have a length but no type byte, and come before any limit
// of a user is known, so their length is checked before anything is kept. Source: PostgreSQL
// documentation, "Message Formats" and "Start-up".
#pragma once

#include "protocol/byte_reader.hpp"
#include "protocol/byte_writer.hpp"
#include "protocol/error.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weir::protocol {

struct protocol_version {
    std::uint16_t major = 3;
    std::uint16_t minor = 0;

    [[nodiscard]] constexpr std::uint32_t word() const noexcept {
        return std::uint32_t{major} << 16U | minor;
    }

    friend constexpr auto operator<=>(const protocol_version&, const protocol_version&) = default;
};

// May the client have TLS? Answered with one byte: 'S' or 'N'.
struct ssl_request {
    [[nodiscard]] static result<ssl_request> decode(byte_span body) noexcept;
    static void encode(byte_writer& writer);
    friend bool operator==(const ssl_request&, const ssl_request&) = default;
};

// May the client have GSSAPI encryption? Always answered with 'N'.
struct gssenc_request {
    [[nodiscard]] static result<gssenc_request> decode(byte_span body) noexcept;
    static void encode(byte_writer& writer);
    friend bool operator==(const gssenc_request&, const gssenc_request&) = default;
};

struct cancel_request {
    std::int32_t pid = 0;
    std::string_view key;  // 4 to 256 bytes
    [[nodiscard]] static result<cancel_request> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const cancel_request&, const cancel_request&) = default;
};

struct startup_message {
    protocol_version version;
    // In the order they came, a name may come twice. Views into the body.
    std::vector<std::pair<std::string_view, std::string_view>> parameters;

    // The last value of that name, as PostgreSQL takes it; nullopt if it is absent.
    [[nodiscard]] std::optional<std::string_view> parameter(std::string_view name) const noexcept;
    // Cut to 63 bytes as PostgreSQL does; empty if it is missing, which ends the login with 28000.
    [[nodiscard]] std::string_view user() const noexcept;
    // Cut to 63 bytes; the user's name if it is missing.
    [[nodiscard]] std::string_view database() const noexcept;
    // Asks for a connection in replication mode; also when the value is not understood.
    [[nodiscard]] bool wants_replication() const noexcept;

    [[nodiscard]] static result<startup_message> decode(byte_span body);
    void encode(byte_writer& writer) const;
    friend bool operator==(const startup_message&, const startup_message&) = default;
};

// A startup packet of a major version this program does not speak; its content is not looked at.
struct unsupported_version {
    protocol_version version;
    friend bool operator==(const unsupported_version&, const unsupported_version&) = default;
};

using first_packet =
    std::variant<ssl_request, gssenc_request, cancel_request, startup_message, unsupported_version>;

// Size of the whole packet, its length word included, from that word: 8 to 10 004 bytes,
// PostgreSQL's limit. errc::truncated when there are less than four bytes, errc::bad_length outside
// the limit.
[[nodiscard]] result<std::size_t> first_packet_size(byte_span bytes) noexcept;

// From the body of a first packet, which is what follows the length word.
[[nodiscard]] result<first_packet> decode_first_packet(byte_span body);

// The version a login goes on with.
struct negotiation {
    protocol_version version;
    std::vector<std::string_view>
        unknown_options;  // names that begin with "_pq_.", in the order they came
    // Not what was asked for: a NegotiateProtocolVersion goes out before the authentication
    // request.
    bool needed = false;
};

// `newest` is the highest minor version of 3 that is spoken here: 0 or 2 (there never was a 3.1).
[[nodiscard]] negotiation negotiate(const startup_message& asked, std::uint16_t newest);

// Appends the NegotiateProtocolVersion that tells the outcome.
void encode_negotiation(byte_writer& writer, const negotiation& outcome);

}  // namespace weir::protocol
