// Values of key columns and attributes, the same whether they come from a copy or from the stream.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace weir::migration {

// What a column's type becomes. Types that are not here are refused when a migration starts.
enum class value_kind : std::uint8_t {
    boolean,    // bool
    integer,    // int2, int4, int8: std::int64_t
    real,       // float4, float8: double
    numeric,    // numeric: std::string in PostgreSQL's text form
    text,       // text, varchar, bpchar, name, enumerations: std::string
    uuid,       // uuid: std::string of 36 characters, lower case
    timestamp,  // timestamp, timestamptz (UTC): std::int64_t, microseconds since 1970-01-01;
                // infinity and -infinity are the largest and the smallest value
    date,       // date: std::int64_t, microseconds of its midnight, as above
    json,       // json, jsonb: std::string
};

// std::monostate is NULL. Which alternative a kind has, see value_kind.
using value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

[[nodiscard]] inline bool is_null(const value& what) {
    return std::holds_alternative<std::monostate>(what);
}

struct column {
    std::string name;
    value_kind kind = value_kind::text;
    std::string type;  // in the source, as format_type() writes it: "character varying(20)"
    friend bool operator==(const column&, const column&) = default;
};

// The values of the key columns in the plan's order; never NULL.
using key = std::vector<value>;

}  // namespace weir::migration
