// Cuts a byte stream into protocol messages by their length, never by how it arrived (PostgreSQL
// documentation, 55.7 "Message Formats"). Pure: the caller owns the bytes and says how many it
// consumed.
//
//     frame_cutter cutter{side::frontend, limits};
//     while (true) {
//         const frame_part part = cutter.next(bytes);   // bytes not consumed yet
//         if (part.kind == part_kind::incomplete) break; // read more, keep the bytes
//         ... use part.bytes ...; bytes = bytes.subspan(part.bytes.size());
//     }
//
// A message larger than it need be kept whole comes in pieces: one `head` (with header), then
// `body` parts; `last` marks the final one. So a row of 900 MB costs no more memory than the
// caller's buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::protocol {

using bytes_view = std::span<const std::uint8_t>;

// Which side sends the messages.
enum class side : std::uint8_t { frontend, backend };

enum class part_kind : std::uint8_t {
    incomplete,  // more bytes are needed; nothing may be consumed
    whole,       // one message, header included
    head,        // the beginning of a large message, header included
    body,        // a further piece of it
    violation,   // a length that PostgreSQL would not accept; the stream is lost
};

struct frame_part {
    part_kind kind = part_kind::incomplete;
    std::uint8_t type = 0;     // of the message the part belongs to
    bool last = false;         // whole, or the final piece
    bytes_view bytes;          // consume exactly these
    std::uint32_t length = 0;  // size of the whole message, header included

    // Body of a whole message or of a head, without the header of five bytes.
    [[nodiscard]] bytes_view body() const noexcept { return bytes.subspan(5); }
};

struct frame_limits {
    // Query and Parse up to this size are delivered whole.
    std::uint32_t whole_text = 1U << 20;
};

constexpr std::size_t header_size = 5;
// PostgreSQL's PQ_SMALL_MESSAGE_LIMIT and PQ_LARGE_MESSAGE_LIMIT (libpq/pqcomm, tcop/postgres.c).
constexpr std::uint32_t small_message_limit = 10'000;
constexpr std::uint32_t large_message_limit = 0x3FFF'FFFE;
// What a server can send: a body as large as its buffers may become, and the length word.
constexpr std::uint32_t server_message_limit = large_message_limit + 4;
// A large Bind is cut only when this much of it has come, so that its names are in the head.
constexpr std::uint32_t bind_head = 16U << 10;

[[nodiscard]] constexpr std::uint32_t read_length(bytes_view header) noexcept {
    return (std::uint32_t{header[1]} << 24) | (std::uint32_t{header[2]} << 16) |
           (std::uint32_t{header[3]} << 8) | std::uint32_t{header[4]};
}

class frame_cutter {
public:
    explicit frame_cutter(side from, frame_limits limits = {}) noexcept
        : from_(from), limits_(limits) {}

    // The next part at the beginning of `bytes`. Bodies in pieces are counted as delivered when
    // returned.
    [[nodiscard]] frame_part next(bytes_view bytes) noexcept;

    // In the middle of a message that is delivered in pieces.
    [[nodiscard]] bool in_body() const noexcept { return remaining_ != 0; }

private:
    // Bytes of the message that must be there before a part may be delivered; the whole size to
    // keep it whole.
    [[nodiscard]] std::uint32_t needed(std::uint8_t type, std::uint32_t total) const noexcept;
    [[nodiscard]] std::uint32_t limit(std::uint8_t type) const noexcept;

    side from_;
    frame_limits limits_;
    std::uint8_t type_ = 0;
    std::uint32_t remaining_ = 0;
    std::uint32_t total_ = 0;
};

}  // namespace weir::protocol
