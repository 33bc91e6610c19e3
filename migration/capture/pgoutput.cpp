#include "migration/capture/pgoutput.hpp"

namespace weir::migration::pgoutput {
namespace {

using protocol::byte_reader;
using protocol::errc;

constexpr std::size_t least_column_size = 10;  // flags, an empty name, type, modifier
constexpr std::uint8_t identity_flag = 1;
constexpr std::uint8_t cascade_flag = 1;
constexpr std::uint8_t restart_flag = 2;

// A count of things of at least `size` bytes each; 0 after an error.
std::size_t count_of(byte_reader& from, std::int64_t count, std::size_t size) {
    if (count < 0) {
        from.fail(errc::bad_count);
        return 0;
    }
    if (static_cast<std::size_t>(count) > from.remaining() / size) {
        from.fail(errc::truncated);
        return 0;
    }
    return static_cast<std::size_t>(count);
}

std::string_view sized(byte_reader& from) {
    return from.bytes(count_of(from, from.i32(), 1));
}

field read_field(byte_reader& from) {
    const auto kind = from.u8();
    switch (kind) {
    case 'n':
    case 'u': return {.kind = static_cast<field_kind>(kind), .bytes = {}};
    case 't':
    case 'b': return {.kind = static_cast<field_kind>(kind), .bytes = sized(from)};
    default: from.fail(errc::bad_value); return {};
    }
}

tuple read_tuple(byte_reader& from) {
    const auto count = count_of(from, from.i16(), 1);
    tuple fields;
    fields.reserve(count);
    for (std::size_t i = 0; i < count && from.ok(); ++i) {
        fields.push_back(read_field(from));
    }
    return fields;
}

void expect(byte_reader& from, char byte) {
    if (from.u8() != static_cast<std::uint8_t>(byte)) {
        from.fail(errc::bad_value);
    }
}

message read_begin(byte_reader& from) {
    begin read;
    read.final_lsn = from.u64();
    read.committed_at = from.i64();
    read.transaction = from.u32();
    return read;
}

message read_commit(byte_reader& from) {
    commit read;
    (void)from.u8();  // flags, unused
    read.commit_lsn = from.u64();
    read.end_lsn = from.u64();
    read.committed_at = from.i64();
    return read;
}

message read_origin(byte_reader& from) {
    origin read;
    read.commit_lsn = from.u64();
    read.name = from.cstring();
    return read;
}

message read_emitted(byte_reader& from) {
    emitted read;
    read.transactional = (from.u8() & 1U) != 0;
    read.lsn = from.u64();
    read.prefix = from.cstring();
    read.content = sized(from);
    return read;
}

message read_relation(byte_reader& from) {
    relation read;
    read.id = from.u32();
    read.schema = from.cstring();
    read.name = from.cstring();
    read.identity = static_cast<char>(from.u8());
    const auto count = count_of(from, from.i16(), least_column_size);
    read.columns.reserve(count);
    for (std::size_t i = 0; i < count && from.ok(); ++i) {
        auto& column = read.columns.emplace_back();
        column.identity = (from.u8() & identity_flag) != 0;
        column.name = from.cstring();
        column.type = from.u32();
        column.modifier = from.i32();
    }
    return read;
}

message read_type(byte_reader& from) {
    type read;
    read.id = from.u32();
    read.schema = from.cstring();
    read.name = from.cstring();
    return read;
}

message read_insert(byte_reader& from) {
    insert read;
    read.relation = from.u32();
    expect(from, 'N');
    read.row = read_tuple(from);
    return read;
}

message read_update(byte_reader& from) {
    update read;
    read.relation = from.u32();
    const auto next = from.u8();
    if (next == 'K' || next == 'O') {
        read.before = static_cast<old_kind>(next);
        read.old = read_tuple(from);
        expect(from, 'N');
    } else if (next != 'N') {
        from.fail(errc::bad_value);
    }
    read.row = read_tuple(from);
    return read;
}

message read_erase(byte_reader& from) {
    erase read;
    read.relation = from.u32();
    const auto next = from.u8();
    if (next != 'K' && next != 'O') {
        from.fail(errc::bad_value);
    }
    read.before = static_cast<old_kind>(next);
    read.old = read_tuple(from);
    return read;
}

message read_truncate(byte_reader& from) {
    truncate read;
    const auto given = from.i32();
    const auto flags = from.u8();
    const auto count = count_of(from, given, sizeof(std::uint32_t));
    read.cascade = (flags & cascade_flag) != 0;
    read.restart_identity = (flags & restart_flag) != 0;
    read.relations.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        read.relations.push_back(from.u32());
    }
    return read;
}

message read_body(byte_reader& from) {
    switch (from.u8()) {
    case 'B': return read_begin(from);
    case 'C': return read_commit(from);
    case 'O': return read_origin(from);
    case 'M': return read_emitted(from);
    case 'R': return read_relation(from);
    case 'Y': return read_type(from);
    case 'I': return read_insert(from);
    case 'U': return read_update(from);
    case 'D': return read_erase(from);
    case 'T': return read_truncate(from);
    default: from.fail(from.ok() ? errc::unexpected_message : errc::truncated); return begin{};
    }
}

}  // namespace

protocol::result<message> decode(protocol::byte_span bytes) {
    byte_reader from(bytes);
    auto read = read_body(from);
    if (const auto fault = from.finish()) {
        return fault;
    }
    return read;
}

}  // namespace weir::migration::pgoutput
