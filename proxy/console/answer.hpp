// What a console command answers: rows of typed values, or an error. Pure.
#pragma once

#include "protocol/backend.hpp"
#include "protocol/byte_writer.hpp"
#include "protocol/diagnostic.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace weir::proxy::console {

enum class value_type : std::uint8_t { text, integer, real, boolean };

struct field {
    std::string name;
    value_type type = value_type::text;
    friend bool operator==(const field&, const field&) = default;
};

using fields = std::vector<field>;

// monostate is NULL. Holds the type that its field says.
using cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;
using row = std::vector<cell>;

struct answer {
    std::optional<protocol::diagnostic> error;  // then the rest is void
    std::vector<row> rows;
};

[[nodiscard]] inline answer failed(protocol::diagnostic why) {
    answer made;
    made.error = std::move(why);
    return made;
}

template <class Integer>
[[nodiscard]] cell number(Integer value) {
    return static_cast<std::int64_t>(value);
}

// NULL for an empty text.
[[nodiscard]] inline cell text_or_null(std::string text) {
    return text.empty() ? cell() : cell(std::move(text));
}

// As PostgreSQL prints it: t, f, shortest decimal; at most six digits of a real are kept.
[[nodiscard]] std::string to_text(const cell& value);

// One format for each column: 0 text, 1 binary.
using formats = std::vector<std::int16_t>;

void encode_description(
    protocol::byte_writer& writer,
    std::span<const field> columns,
    const formats& as
);
void encode_row(protocol::byte_writer& writer, const row& values, const formats& as);

}  // namespace weir::proxy::console
