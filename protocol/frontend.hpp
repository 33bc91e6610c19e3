// Messages from a client that are acted on. `decode` takes the body, which is what follows the
// length word; text and byte fields are views into it and live as long as it does. `encode` appends
// the whole message. Source: PostgreSQL documentation, "Message Formats".
#pragma once

#include "protocol/byte_reader.hpp"
#include "protocol/byte_writer.hpp"
#include "protocol/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::protocol::frontend {

// Every type byte a client may send after the first packet.
enum class kind : char {
    bind = 'B',
    close = 'C',
    copy_data = 'd',
    copy_done = 'c',
    copy_fail = 'f',
    describe = 'D',
    execute = 'E',
    flush = 'H',
    function_call = 'F',
    parse = 'P',
    password = 'p',  // also SASLInitialResponse, SASLResponse, GSSResponse
    query = 'Q',
    sync = 'S',
    terminate = 'X',
};

// What Describe and Close speak about.
enum class object : char { statement = 'S', portal = 'P' };

struct query {
    std::string_view text;
    [[nodiscard]] static result<query> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const query&, const query&) = default;
};

struct parse {
    std::string_view name;
    std::string_view text;
    std::string_view oids;  // parameter type OIDs as on the wire: four bytes each, network order

    [[nodiscard]] std::size_t oid_count() const noexcept { return oids.size() / 4; }

    [[nodiscard]] std::uint32_t oid(std::size_t index) const noexcept;
    [[nodiscard]] static result<parse> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const parse&, const parse&) = default;
};

// The beginning of a Bind. The rest may be huge and is streamed, so `decode` is content with any
// prefix that holds both names.
struct bind_head {
    std::string_view portal;
    std::string_view statement;
    std::size_t size = 0;  // bytes of the body up to and including both names
    [[nodiscard]] static result<bind_head> decode(byte_span body) noexcept;
    friend bool operator==(const bind_head&, const bind_head&) = default;
};

struct bind {
    std::string_view portal;
    std::string_view statement;
    std::string_view tail;  // formats, values and result formats as on the wire
    // Checks the tail too, to its last byte.
    [[nodiscard]] static result<bind> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const bind&, const bind&) = default;
};

struct bind_parameter {
    bool null = false;
    bool binary = false;
    std::string_view value;
    friend bool operator==(const bind_parameter&, const bind_parameter&) = default;
};

// Parameter $number (from 1) of a Bind whose tail, or the first part of it, is given.
// errc::truncated when the part does not reach that far, errc::bad_value when there is no such
// parameter.
[[nodiscard]] result<bind_parameter>
read_bind_parameter(std::string_view tail, std::size_t number) noexcept;

struct describe {
    frontend::object object = frontend::object::statement;
    std::string_view name;
    [[nodiscard]] static result<describe> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const describe&, const describe&) = default;
};

struct close {
    frontend::object object = frontend::object::statement;
    std::string_view name;
    [[nodiscard]] static result<close> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const close&, const close&) = default;
};

struct execute {
    std::string_view portal;
    std::int32_t max_rows = 0;  // 0 or less: all
    [[nodiscard]] static result<execute> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const execute&, const execute&) = default;
};

struct function_call {
    std::uint32_t function = 0;  // OID
    std::string_view tail;       // arguments and result format as on the wire
    [[nodiscard]] static result<function_call> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const function_call&, const function_call&) = default;
};

// Clear text or the md5 answer. Never printed.
struct password {
    std::string_view value;
    [[nodiscard]] static result<password> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const password&, const password&) = default;
};

struct sasl_initial_response {
    std::string_view mechanism;
    bool has_data = false;  // some clients send the mechanism alone
    std::string_view data;
    [[nodiscard]] static result<sasl_initial_response> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const sasl_initial_response&, const sasl_initial_response&) = default;
};

struct sasl_response {
    std::string_view data;
    [[nodiscard]] static result<sasl_response> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const sasl_response&, const sasl_response&) = default;
};

struct copy_fail {
    std::string_view reason;
    [[nodiscard]] static result<copy_fail> decode(byte_span body) noexcept;
    void encode(byte_writer& writer) const;
    friend bool operator==(const copy_fail&, const copy_fail&) = default;
};

// Sync, Flush, Terminate, CopyDone: nothing but a type.
void encode_empty(byte_writer& writer, kind type);

}  // namespace weir::protocol::frontend
