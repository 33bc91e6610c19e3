// What every message is tested for: its exact bytes, the way back, an end at every length, one byte
// too many.
#pragma once

#include "protocol/byte_reader.hpp"
#include "protocol/byte_writer.hpp"
#include "protocol/error.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::protocol::test {

using buffer = std::vector<std::uint8_t>;

// Keeps the zeros of a literal, the last one excepted.
template <std::size_t Size>
[[nodiscard]] std::string bytes(const char (&literal)[Size]) {
    return std::string(literal, Size - 1);
}

// A heap block of exactly this size, so that a read past the end is seen by the address sanitizer.
[[nodiscard]] inline buffer exact(std::string_view text) {
    return {text.begin(), text.end()};
}

[[nodiscard]] inline std::string text_of(const buffer& raw) {
    return std::string(as_text(raw));
}

template <class Encode>
[[nodiscard]] std::string encoded(Encode&& encode) {
    buffer out;
    byte_writer writer(out);
    encode(writer);
    return text_of(out);
}

template <class Message>
[[nodiscard]] error_code decode_error(std::string_view body) {
    const auto raw = exact(body);
    const auto decoded = Message::decode(raw);
    return decoded ? error_code{} : decoded.error();
}

// `header` is 5 with a type byte, 4 without.
template <class Message>
void check_exact_and_back(const Message& message, std::string_view wire, std::size_t header = 5) {
    CHECK(encoded([&](byte_writer& writer) { message.encode(writer); }) == wire);
    const auto body = exact(wire.substr(header));
    const auto decoded = Message::decode(body);
    REQUIRE(decoded.has_value());
    CHECK(*decoded == message);
}

template <class Message>
void check_every_cut(std::string_view body) {
    for (std::size_t size = 0; size < body.size(); ++size) {
        CAPTURE(size);
        CHECK(decode_error<Message>(body.substr(0, size)).failed());
    }
}

template <class Message>
void check_message(const Message& message, std::string_view wire, std::size_t header = 5) {
    check_exact_and_back(message, wire, header);
    check_every_cut<Message>(wire.substr(header));
    CHECK(decode_error<Message>(std::string(wire.substr(header)) + '\0') == errc::trailing_bytes);
    CHECK(decode_error<Message>(std::string(wire.substr(header)) + 'x') == errc::trailing_bytes);
}

}  // namespace weir::protocol::test
