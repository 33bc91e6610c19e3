// A cursor over the body of one message. It latches the first error, so that a decoder reads all
// fields and asks once, in finish(). After an error every read gives zero or an empty view.
#pragma once

#include "protocol/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace weir::protocol {

using byte_span = std::span<const std::uint8_t>;

// The same bytes seen as characters; valid as long as the bytes are.
[[nodiscard]] inline std::string_view as_text(byte_span bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[nodiscard]] inline byte_span as_bytes(std::string_view text) noexcept {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class byte_reader {
public:
    explicit byte_reader(byte_span body) noexcept : body_(body) {}

    [[nodiscard]] std::uint8_t u8() noexcept { return static_cast<std::uint8_t>(big_endian(1)); }

    [[nodiscard]] std::uint16_t u16() noexcept { return static_cast<std::uint16_t>(big_endian(2)); }

    [[nodiscard]] std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(big_endian(4)); }

    [[nodiscard]] std::uint64_t u64() noexcept { return big_endian(8); }

    [[nodiscard]] std::int16_t i16() noexcept { return static_cast<std::int16_t>(u16()); }

    [[nodiscard]] std::int32_t i32() noexcept { return static_cast<std::int32_t>(u32()); }

    [[nodiscard]] std::int64_t i64() noexcept { return static_cast<std::int64_t>(u64()); }

    // A zero-terminated text without its zero.
    [[nodiscard]] std::string_view cstring() noexcept {
        const auto left = rest_view();
        const auto end = left.find('\0');
        if (end == std::string_view::npos) {
            fail(errc::unterminated_string);
            return {};
        }
        at_ += end + 1;
        return left.substr(0, end);
    }

    [[nodiscard]] std::string_view bytes(std::size_t count) noexcept {
        if (count > remaining()) {
            fail(errc::truncated);
            return {};
        }
        const auto taken = rest_view().substr(0, count);
        at_ += count;
        return taken;
    }

    // Everything that is left.
    [[nodiscard]] std::string_view rest() noexcept { return bytes(remaining()); }

    [[nodiscard]] std::size_t remaining() const noexcept { return body_.size() - at_; }

    // How many bytes were read; on an error, the size of the body.
    [[nodiscard]] std::size_t offset() const noexcept { return at_; }

    [[nodiscard]] bool ok() const noexcept { return error_ == errc{}; }

    // For what the decoder itself finds wrong. The first error stays.
    void fail(errc code) noexcept {
        if (ok()) {
            error_ = code;
        }
        at_ = body_.size();
    }

    // The first error, if there was one. For a prefix of a message, whose rest is not looked at.
    [[nodiscard]] error_code error() const noexcept { return ok() ? error_code{} : error_; }

    // The first error, or trailing_bytes when the body goes on.
    [[nodiscard]] error_code finish() noexcept {
        if (remaining() != 0) {
            fail(errc::trailing_bytes);
        }
        return error();
    }

private:
    [[nodiscard]] std::string_view rest_view() const noexcept {
        return as_text(body_.subspan(at_));
    }

    [[nodiscard]] std::uint64_t big_endian(std::size_t size) noexcept {
        std::uint64_t value = 0;
        for (const char c : bytes(size)) {
            value = value << 8U | static_cast<std::uint8_t>(c);
        }
        return value;
    }

    byte_span body_;
    std::size_t at_ = 0;
    errc error_{};
};

}  // namespace weir::protocol
