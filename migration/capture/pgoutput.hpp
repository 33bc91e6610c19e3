// Messages of the output plugin pgoutput, protocol version 1 (PostgreSQL documentation, "Logical
// Replication Message Formats"), decoded from the bytes of one XLogData. No I/O.
//
// Texts and fields are views into those bytes and live as long as they do.
#pragma once

#include "protocol/byte_reader.hpp"
#include "protocol/error.hpp"

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace weir::migration::pgoutput {

// Times are microseconds since 2000-01-01 00:00 UTC.

struct begin {
    std::uint64_t final_lsn = 0;  // of the transaction's commit record
    std::int64_t committed_at = 0;
    std::uint32_t transaction = 0;  // its id without the epoch
};

struct commit {
    std::uint64_t commit_lsn = 0;
    std::uint64_t end_lsn = 0;  // of the transaction: what may be confirmed
    std::int64_t committed_at = 0;
};

struct origin {
    std::uint64_t commit_lsn = 0;  // on the origin server
    std::string_view name;
};

// Of pg_logical_emit_message.
struct emitted {
    bool transactional = false;
    std::uint64_t lsn = 0;
    std::string_view prefix;
    std::string_view content;
};

struct relation_column {
    bool identity = false;  // part of the replica identity
    std::string_view name;
    std::uint32_t type = 0;      // OID
    std::int32_t modifier = -1;  // atttypmod
};

struct relation {
    std::uint32_t id = 0;     // OID
    std::string_view schema;  // "" is pg_catalog
    std::string_view name;
    char identity = 'd';  // pg_class.relreplident
    std::vector<relation_column> columns;
};

// Comes before a Relation that has a column of a type that is not built in. The name is that of the
// base type when `id` is a domain.
struct type {
    std::uint32_t id = 0;
    std::string_view schema;
    std::string_view name;
};

enum class field_kind : std::uint8_t {
    null = 'n',
    unchanged = 'u',  // a TOASTed value that the statement did not touch: not sent
    text = 't',
    binary = 'b',
};

struct field {
    field_kind kind = field_kind::null;
    std::string_view bytes;
};

// In the order of the relation's columns.
using tuple = std::vector<field>;

struct insert {
    std::uint32_t relation = 0;
    tuple row;
};

enum class old_kind : std::uint8_t {
    none = 0,
    key = 'K',   // columns of the replica identity; all others are null and say nothing
    full = 'O',  // all columns: REPLICA IDENTITY FULL
};

struct update {
    std::uint32_t relation = 0;
    old_kind before = old_kind::none;
    tuple old;
    tuple row;
};

struct erase {
    std::uint32_t relation = 0;
    old_kind before = old_kind::key;
    tuple old;
};

struct truncate {
    bool cascade = false;
    bool restart_identity = false;
    std::vector<std::uint32_t> relations;
};

using message =
    std::variant<begin, commit, origin, emitted, relation, type, insert, update, erase, truncate>;

// A whole message with its type byte. Errors: protocol::errc; unexpected_message for a type that
// version 1 does not have. Counts are checked against the bytes before anything is allocated.
[[nodiscard]] protocol::result<message> decode(protocol::byte_span bytes);

}  // namespace weir::migration::pgoutput
