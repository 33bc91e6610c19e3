// What a client knows of the columns of a result, as one number, to see whether a statement made
// anew still has the same. PostgreSQL compares the same things when it looks at a plan again
// (equalTupleDescs in access/common/tupdesc.c), collations apart, which clients are not told.
#pragma once

#include "protocol/byte_reader.hpp"
#include "protocol/frame.hpp"

#include <cstdint>
#include <string_view>

namespace weir::proxy {

// 0: not known.
using result_digest = std::uint64_t;

// Of a whole RowDescription or NoData message. Names, types and type modifiers count; formats,
// which are the Bind's, and the columns' tables do not.
[[nodiscard]] inline result_digest digest_of(protocol::bytes_view message) noexcept {
    constexpr std::uint64_t basis = 0xcbf29ce484222325U;  // FNV-1a, 64 bits
    constexpr std::uint64_t prime = 0x100000001b3U;
    if (message.size() < protocol::header_size || message[0] != 'T') {
        return !message.empty() && message[0] == 'n' ? 1 : 0;
    }
    std::uint64_t hash = basis;
    const auto add = [&hash](std::uint64_t part) { hash = (hash ^ part) * prime; };
    protocol::byte_reader reader(message.subspan(protocol::header_size));
    const auto columns = reader.u16();
    for (unsigned i = 0; i < columns && reader.ok(); ++i) {
        const auto name = reader.cstring();
        for (const char c : name) {
            add(static_cast<unsigned char>(c));
        }
        add(name.size());
        (void)reader.bytes(6);  // table, number of the column
        add(reader.u32());      // type
        (void)reader.u16();
        add(reader.u32());  // type modifier
        (void)reader.u16();
    }
    if (reader.finish()) {
        return 0;
    }
    return hash > 1 ? hash : 2;
}

}  // namespace weir::proxy
