#include "protocol/frame.hpp"

#include <algorithm>

namespace weir::protocol {

frame_part frame_cutter::next(bytes_view bytes) noexcept {
    frame_part part;
    if (remaining_ != 0) {
        if (bytes.empty()) {
            return part;
        }
        const auto size = std::min<std::size_t>(remaining_, bytes.size());
        remaining_ -= static_cast<std::uint32_t>(size);
        part.kind = part_kind::body;
        part.type = type_;
        part.last = remaining_ == 0;
        part.bytes = bytes.first(size);
        part.length = total_;
        return part;
    }
    if (bytes.size() < header_size) {
        return part;
    }
    const auto length = read_length(bytes);
    part.type = bytes[0];
    if (length < 4 || length > limit(part.type)) {
        part.kind = part_kind::violation;
        return part;
    }
    const std::uint32_t total = length + 1;
    part.length = total;
    if (bytes.size() >= total) {
        part.kind = part_kind::whole;
        part.last = true;
        part.bytes = bytes.first(total);
        return part;
    }
    if (bytes.size() < needed(part.type, total)) {
        return part;
    }
    part.kind = part_kind::head;
    part.bytes = bytes;
    type_ = part.type;
    total_ = total;
    remaining_ = total - static_cast<std::uint32_t>(bytes.size());
    return part;
}

std::uint32_t frame_cutter::needed(std::uint8_t type, std::uint32_t total) const noexcept {
    if (from_ == side::backend) {
        switch (type) {
        case 'D':
        case 'd':
        case 'V': return header_size;
        // Short, and looked at; or, as RowDescription, the end of an answer: what the proxy itself
        // says behind it must not come in the middle.
        default: return total;
        }
    }
    switch (type) {
    case 'd':
    case 'F': return header_size;
    case 'B': return std::min(total, bind_head);
    case 'Q':
    case 'P': return total <= limits_.whole_text ? total : std::min(total, bind_head);
    default: return total;
    }
}

std::uint32_t frame_cutter::limit(std::uint8_t type) const noexcept {
    if (from_ == side::backend) {
        return server_message_limit;
    }
    switch (type) {
    case 'Q':
    case 'P':
    case 'B':
    case 'F':
    case 'd':
    case 'p': return large_message_limit;
    // An unknown type is refused by the session before its body is waited for, whatever its length.
    default: return small_message_limit;
    }
}

}  // namespace weir::protocol
