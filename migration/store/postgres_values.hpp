// Values in PostgreSQL's binary formats, by kind: arrays of them as parameters, fields of answers.
// Source: the send and receive functions of the types (PostgreSQL's src/backend/utils/adt,
// pgvector's vector.c); numeric, uuid, json and enumerations travel as text.
#pragma once

#include "migration/value.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::store {

// The type that values of the kind travel as.
struct wire_type {
    std::string_view name;  // "bigint"
    std::uint32_t oid = 0;
};

[[nodiscard]] wire_type wire_type_of(value_kind kind);

inline constexpr wire_type text_type{"text", 25};
inline constexpr wire_type part_type{"oid", 26};
inline constexpr wire_type index_type{"integer", 23};

// The bytes of a value without their length. Not for NULL; the alternative must be the kind's.
void put_value(std::string& out, value_kind kind, const value& what);
void put_vector(std::string& out, std::span<const float> what);

// Nothing: the field is damaged.
[[nodiscard]] std::optional<value> read_value(value_kind kind, std::string_view field);
[[nodiscard]] std::optional<std::vector<float>> read_vector(std::string_view field);
[[nodiscard]] std::optional<std::int64_t> read_integer(std::string_view field);
[[nodiscard]] std::optional<double> read_real(std::string_view field);
[[nodiscard]] std::optional<std::uint32_t> read_part(std::string_view field);

// A parameter that is an array of one dimension, made element by element.
class array_writer {
public:
    // `bytes` is about what an element takes.
    array_writer(std::uint32_t type, std::size_t count, std::size_t bytes = 16);

    void add(value_kind kind, const value& what);  // NULL as well
    void add(std::span<const float> vector);
    void add(std::string_view text);
    void add(std::uint32_t part_or_index);

    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

}  // namespace weir::migration::store
