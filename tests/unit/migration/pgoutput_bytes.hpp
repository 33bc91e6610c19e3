// Messages of pgoutput as bytes, for tests: written from PostgreSQL's documentation, apart from the
// decoder.
#pragma once

#include "protocol/byte_writer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::test {

struct sent_field {
    char kind = 'n';
    std::string bytes;
};

inline sent_field null() {
    return {};
}

inline sent_field unchanged() {
    return {.kind = 'u', .bytes = {}};
}

inline sent_field text(std::string bytes) {
    return {.kind = 't', .bytes = std::move(bytes)};
}

inline sent_field binary(std::string bytes) {
    return {.kind = 'b', .bytes = std::move(bytes)};
}

struct sent_column {
    std::string name;
    std::uint32_t type = 0;
    std::int32_t modifier = -1;
    bool identity = false;
};

using sent_tuple = std::vector<sent_field>;

// One message; every method appends.
class message_bytes {
public:
    explicit message_bytes(char type) : writer_(bytes_) { u8(type); }

    message_bytes(const message_bytes&) = delete;
    message_bytes& operator=(const message_bytes&) = delete;
    ~message_bytes() = default;

    message_bytes& u8(char value) {
        writer_.u8(static_cast<std::uint8_t>(value));
        return *this;
    }

    message_bytes& u16(std::size_t value) {
        writer_.u16(static_cast<std::uint16_t>(value));
        return *this;
    }

    message_bytes& u32(std::uint32_t value) {
        writer_.u32(value);
        return *this;
    }

    message_bytes& u64(std::uint64_t value) {
        writer_.u64(value);
        return *this;
    }

    message_bytes& cstring(std::string_view value) {
        raw(value);
        return u8(0);
    }

    message_bytes& raw(std::string_view value) {
        for (const char byte : value) {
            u8(byte);
        }
        return *this;
    }

    message_bytes& tuple(const sent_tuple& fields) {
        u16(fields.size());
        for (const auto& field : fields) {
            u8(field.kind);
            if (field.kind == 't' || field.kind == 'b') {
                u32(static_cast<std::uint32_t>(field.bytes.size())).raw(field.bytes);
            }
        }
        return *this;
    }

    [[nodiscard]] const std::vector<std::uint8_t>& get() const { return bytes_; }

private:
    std::vector<std::uint8_t> bytes_;
    protocol::byte_writer writer_;
};

using sent = std::vector<std::uint8_t>;

inline sent begin(std::uint64_t final_lsn, std::uint32_t transaction) {
    return message_bytes('B').u64(final_lsn).u64(5).u32(transaction).get();
}

inline sent commit(std::uint64_t lsn, std::uint64_t end) {
    return message_bytes('C').u8(0).u64(lsn).u64(end).u64(6).get();
}

inline sent relation(
    std::uint32_t id,
    const std::vector<sent_column>& columns,
    std::string_view name = "items",
    char identity = 'd'
) {
    message_bytes made('R');
    made.u32(id).cstring("public").cstring(name).u8(identity).u16(columns.size());
    for (const auto& column : columns) {
        made.u8(column.identity ? 1 : 0).cstring(column.name).u32(column.type);
        made.u32(static_cast<std::uint32_t>(column.modifier));
    }
    return made.get();
}

inline sent type(std::uint32_t id, std::string_view schema, std::string_view name) {
    return message_bytes('Y').u32(id).cstring(schema).cstring(name).get();
}

inline sent insert(std::uint32_t id, const sent_tuple& row) {
    return message_bytes('I').u32(id).u8('N').tuple(row).get();
}

// `kind`: 'K', 'O', or 0 without an old tuple.
inline sent update(std::uint32_t id, char kind, const sent_tuple& old, const sent_tuple& row) {
    message_bytes made('U');
    made.u32(id);
    if (kind != 0) {
        made.u8(kind).tuple(old);
    }
    return made.u8('N').tuple(row).get();
}

inline sent erase(std::uint32_t id, char kind, const sent_tuple& old) {
    return message_bytes('D').u32(id).u8(kind).tuple(old).get();
}

inline sent truncate(const std::vector<std::uint32_t>& relations, char flags = 0) {
    message_bytes made('T');
    made.u32(static_cast<std::uint32_t>(relations.size())).u8(flags);
    for (const auto id : relations) {
        made.u32(id);
    }
    return made.get();
}

}  // namespace weir::migration::test
