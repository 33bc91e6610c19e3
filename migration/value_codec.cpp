#include "migration/value_codec.hpp"

#include "migration/numeric_codec.hpp"
#include "migration/time_codec.hpp"
#include "protocol/byte_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace weir::migration {
namespace {

constexpr std::uint32_t float4_oid = 700;

struct built_in {
    std::uint32_t oid;
    std::string_view name;
    value_kind kind;
};

// From PostgreSQL's src/include/catalog/pg_type.dat; these numbers never change.
constexpr std::array<built_in, 17> types = {{
    {16, "bool", value_kind::boolean},
    {19, "name", value_kind::text},
    {20, "int8", value_kind::integer},
    {21, "int2", value_kind::integer},
    {23, "int4", value_kind::integer},
    {25, "text", value_kind::text},
    {114, "json", value_kind::json},
    {float4_oid, "float4", value_kind::real},
    {701, "float8", value_kind::real},
    {1042, "bpchar", value_kind::text},
    {1043, "varchar", value_kind::text},
    {1082, "date", value_kind::date},
    {1114, "timestamp", value_kind::timestamp},
    {1184, "timestamptz", value_kind::timestamp},
    {1700, "numeric", value_kind::numeric},
    {2950, "uuid", value_kind::uuid},
    {3802, "jsonb", value_kind::json},
}};

using read = codec_result<value>;

template <typename Number>
bool whole_number(std::string_view text, Number& number) {
    const auto* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, number);
    return result.ec == std::errc{} && result.ptr == end;
}

read binary_boolean(std::string_view bytes) {
    if (bytes.size() != 1) {
        return codec_fault::bad_length;
    }
    return value(bytes.front() != 0);
}

read binary_integer(std::string_view bytes) {
    protocol::byte_reader from(protocol::as_bytes(bytes));
    switch (bytes.size()) {
    case 2: return value(std::int64_t{from.i16()});
    case 4: return value(std::int64_t{from.i32()});
    case 8: return value(from.i64());
    default: return codec_fault::bad_length;
    }
}

read binary_real(std::string_view bytes) {
    protocol::byte_reader from(protocol::as_bytes(bytes));
    switch (bytes.size()) {
    case 4: return value(static_cast<double>(std::bit_cast<float>(from.u32())));
    case 8: return value(std::bit_cast<double>(from.u64()));
    default: return codec_fault::bad_length;
    }
}

read binary_uuid(std::string_view bytes) {
    constexpr std::string_view hex = "0123456789abcdef";
    if (bytes.size() != 16) {
        return codec_fault::bad_length;
    }
    std::string text;
    text.reserve(36);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            text += '-';
        }
        const auto byte = static_cast<unsigned char>(bytes[i]);
        text += hex[byte >> 4U];
        text += hex[byte & 15U];
    }
    return value(std::move(text));
}

read binary_timestamp(std::string_view bytes) {
    protocol::byte_reader from(protocol::as_bytes(bytes));
    if (bytes.size() != 8) {
        return codec_fault::bad_length;
    }
    return value(time_of_timestamp(from.i64()));
}

read binary_date(std::string_view bytes) {
    protocol::byte_reader from(protocol::as_bytes(bytes));
    if (bytes.size() != 4) {
        return codec_fault::bad_length;
    }
    return value(time_of_date(from.i32()));
}

// jsonb begins with its version, which is 1 and no character that JSON may begin with.
read binary_json(std::string_view bytes) {
    if (!bytes.empty() && bytes.front() == 1) {
        bytes.remove_prefix(1);
    }
    return value(std::string(bytes));
}

read numeric_value(std::string_view bytes) {
    auto text = read_numeric(bytes);
    if (!text) {
        return text.error();
    }
    return value(std::move(*text));
}

read read_binary(value_kind kind, std::string_view bytes) {
    switch (kind) {
    case value_kind::boolean: return binary_boolean(bytes);
    case value_kind::integer: return binary_integer(bytes);
    case value_kind::real: return binary_real(bytes);
    case value_kind::numeric: return numeric_value(bytes);
    case value_kind::text: return value(std::string(bytes));
    case value_kind::uuid: return binary_uuid(bytes);
    case value_kind::timestamp: return binary_timestamp(bytes);
    case value_kind::date: return binary_date(bytes);
    case value_kind::json: return binary_json(bytes);
    }
    return codec_fault::bad_value;
}

read text_boolean(std::string_view text) {
    if (text == "t" || text == "true") {
        return value(true);
    }
    if (text == "f" || text == "false") {
        return value(false);
    }
    return codec_fault::bad_syntax;
}

read text_integer(std::string_view text) {
    std::int64_t number = 0;
    if (!whole_number(text, number)) {
        return codec_fault::bad_syntax;
    }
    return value(number);
}

read text_real(std::string_view text, bool single) {
    double number = 0;
    if (single) {
        float narrow = 0;
        if (!whole_number(text, narrow)) {
            return codec_fault::bad_syntax;
        }
        number = static_cast<double>(narrow);
    } else if (!whole_number(text, number)) {
        return codec_fault::bad_syntax;
    }
    return value(number);
}

read text_uuid(std::string_view text) {
    const bool digits = std::all_of(text.begin(), text.end(), [](char byte) {
        return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') || byte == '-';
    });
    if (text.size() != 36 || !digits) {
        return codec_fault::bad_syntax;
    }
    return value(std::string(text));
}

read text_time(std::string_view text) {
    const auto time = read_time(text);
    if (!time) {
        return time.error();
    }
    return value(*time);
}

read read_text(value_kind kind, std::uint32_t type_oid, std::string_view text) {
    switch (kind) {
    case value_kind::boolean: return text_boolean(text);
    case value_kind::integer: return text_integer(text);
    case value_kind::real: return text_real(text, type_oid == float4_oid);
    case value_kind::uuid: return text_uuid(text);
    case value_kind::timestamp:
    case value_kind::date: return text_time(text);
    case value_kind::numeric:
    case value_kind::text:
    case value_kind::json: return value(std::string(text));
    }
    return codec_fault::bad_value;
}

struct parameter_writer {
    value_kind kind;

    std::optional<std::string> operator()(std::monostate) const { return std::nullopt; }

    std::optional<std::string> operator()(bool what) const { return what ? "t" : "f"; }

    std::optional<std::string> operator()(std::int64_t what) const {
        switch (kind) {
        case value_kind::timestamp: return timestamp_text(what);
        case value_kind::date: return date_text(what);
        default: return std::to_string(what);
        }
    }

    std::optional<std::string> operator()(double what) const {
        if (std::isnan(what)) {
            return "NaN";
        }
        if (std::isinf(what)) {
            return what > 0 ? "Infinity" : "-Infinity";
        }
        std::array<char, 32> text{};
        const auto end = std::to_chars(text.data(), text.data() + text.size(), what).ptr;
        return std::string(text.data(), end);
    }

    std::optional<std::string> operator()(const std::string& what) const { return what; }
};

}  // namespace

std::optional<value_kind> kind_of(std::uint32_t type_oid, char typtype) {
    if (typtype == 'e') {
        return value_kind::text;
    }
    for (const auto& type : types) {
        if (type.oid == type_oid) {
            return type.kind;
        }
    }
    return std::nullopt;
}

std::optional<value_kind> kind_of(std::string_view type_name) {
    for (const auto& type : types) {
        if (type.name == type_name) {
            return type.kind;
        }
    }
    return std::nullopt;
}

codec_result<value>
read_value(value_kind kind, std::uint32_t type_oid, value_format format, std::string_view bytes) {
    return format == value_format::binary ? read_binary(kind, bytes)
                                          : read_text(kind, type_oid, bytes);
}

std::optional<std::string> parameter_text(value_kind kind, const value& what) {
    return std::visit(parameter_writer{kind}, what);
}

}  // namespace weir::migration
