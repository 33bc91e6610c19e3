// Values of PostgreSQL's built-in types: their binary form (what the type's send function writes)
// and their text form (what its output function writes with DateStyle ISO, extra_float_digits >= 1)
// become the same value; and a value becomes the text of a parameter.
//
// Binary forms are those of src/backend/utils/adt (int8send, numeric_send, timestamp_send, …).
#pragma once

#include "migration/codec_error.hpp"
#include "migration/value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::migration {

enum class value_format : std::uint8_t { text, binary };

// What a type of pg_type becomes; none: not supported. `typtype` is pg_type's: 'b' of a base type,
// 'e' of an enumeration. A domain is to be resolved to its base type first.
[[nodiscard]] std::optional<value_kind> kind_of(std::uint32_t type_oid, char typtype);

// The same for a base type of pg_catalog, by its name ("int4", "timestamptz").
[[nodiscard]] std::optional<value_kind> kind_of(std::string_view type_name);

// Not for NULL, which has no bytes. `type_oid` only matters for the text form of a real: a float4
// (700) is read as a float and then widened, as its binary form is. Times beyond the years that
// microseconds since 1970 can hold become the last or the first moment that they can.
[[nodiscard]] codec_result<value>
read_value(value_kind kind, std::uint32_t type_oid, value_format format, std::string_view bytes);

// The value as text that the type's input function reads back, whatever the session's settings of
// DateStyle and TimeZone; nothing for NULL.
[[nodiscard]] std::optional<std::string> parameter_text(value_kind kind, const value& what);

}  // namespace weir::migration
