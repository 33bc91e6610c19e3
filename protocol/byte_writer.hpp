// Appends messages to a buffer that somebody else owns. Lengths are patched in when a message is
// complete:
//
//     byte_writer writer(out);
//     {
//         const auto open = writer.message('Q');
//         writer.cstring("select 1");
//     }   // the length is written here
#pragma once

#include "protocol/byte_reader.hpp"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace weir::protocol {

class byte_writer {
public:
    // Patches the length word of the message that begins at `length_at` when it goes out of scope.
    class [[nodiscard]] open_message {
    public:
        open_message(std::vector<std::uint8_t>& out, std::size_t length_at) noexcept
            : out_(out), length_at_(length_at) {}

        open_message(const open_message&) = delete;
        open_message& operator=(const open_message&) = delete;
        open_message(open_message&&) = delete;
        open_message& operator=(open_message&&) = delete;

        ~open_message() {
            const auto length = out_.size() - length_at_;
            assert(length <= std::numeric_limits<std::int32_t>::max());
            for (std::size_t i = 0; i < 4; ++i) {
                out_[length_at_ + i] = static_cast<std::uint8_t>(length >> (24U - 8U * i));
            }
        }

    private:
        std::vector<std::uint8_t>& out_;
        std::size_t length_at_;
    };

    // `out` must outlive the writer and every message it opens.
    explicit byte_writer(std::vector<std::uint8_t>& out) noexcept : out_(out) {}

    // A message with its type byte. Messages do not nest.
    open_message message(char type) {
        u8(static_cast<std::uint8_t>(type));
        return packet();
    }

    // A first packet: a length, but no type byte.
    open_message packet() {
        const auto length_at = out_.size();
        u32(0);
        return {out_, length_at};
    }

    void u8(std::uint8_t value) { out_.push_back(value); }

    void u16(std::uint16_t value) { big_endian<2>(value); }

    void u32(std::uint32_t value) { big_endian<4>(value); }

    void u64(std::uint64_t value) { big_endian<8>(value); }

    void i16(std::int16_t value) { u16(static_cast<std::uint16_t>(value)); }

    void i32(std::int32_t value) { u32(static_cast<std::uint32_t>(value)); }

    void i64(std::int64_t value) { u64(static_cast<std::uint64_t>(value)); }

    // The text and a zero. A zero inside would begin a new field for the reader, so the text ends
    // there.
    void cstring(std::string_view text) {
        bytes(text.substr(0, text.find('\0')));
        u8(0);
    }

    void bytes(std::string_view raw) { bytes(as_bytes(raw)); }

    void bytes(byte_span raw) { out_.insert(out_.end(), raw.begin(), raw.end()); }

private:
    template <std::size_t Size>
    void big_endian(std::uint64_t value) {
        std::uint8_t raw[Size];
        for (std::size_t i = 0; i < Size; ++i) {
            raw[i] = static_cast<std::uint8_t>(value >> (8U * (Size - 1 - i)));
        }
        bytes(byte_span(raw, Size));
    }

    std::vector<std::uint8_t>& out_;
};

}  // namespace weir::protocol
