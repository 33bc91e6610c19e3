#include "proxy/console/answer.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <string_view>
#include <type_traits>

namespace weir::proxy::console {

namespace {

// Types of pg_type.dat.
protocol::backend::column column_of(const field& from, std::int16_t format) {
    protocol::backend::column made{.name = from.name, .format = format};
    switch (from.type) {
    case value_type::text: break;
    case value_type::integer:
        made.type = 20;
        made.type_size = 8;
        break;
    case value_type::real:
        made.type = 701;
        made.type_size = 8;
        break;
    case value_type::boolean:
        made.type = 16;
        made.type_size = 1;
        break;
    }
    return made;
}

template <class Value>
std::string number_text(Value value) {
    std::array<char, 64> text{};
    auto* const end = text.data() + text.size();
    if constexpr (std::is_floating_point_v<Value>) {
        const auto done = std::to_chars(text.data(), end, value, std::chars_format::general, 6);
        return {text.data(), done.ptr};
    } else {
        const auto done = std::to_chars(text.data(), end, value);
        return {text.data(), done.ptr};
    }
}

std::string big_endian(std::uint64_t value) {
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<char>(value >> static_cast<unsigned>(shift) & 0xFFU));
    }
    return bytes;
}

std::string to_binary(const cell& value) {
    if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
        return big_endian(static_cast<std::uint64_t>(*whole));
    }
    if (const auto* const real = std::get_if<double>(&value)) {
        return big_endian(std::bit_cast<std::uint64_t>(*real));
    }
    if (const auto* const truth = std::get_if<bool>(&value)) {
        return std::string(1, *truth ? '\1' : '\0');
    }
    return to_text(value);
}

}  // namespace

std::string to_text(const cell& value) {
    if (const auto* const text = std::get_if<std::string>(&value)) {
        return *text;
    }
    if (const auto* const whole = std::get_if<std::int64_t>(&value)) {
        return number_text(*whole);
    }
    if (const auto* const real = std::get_if<double>(&value)) {
        return number_text(*real);
    }
    if (const auto* const truth = std::get_if<bool>(&value)) {
        return *truth ? "t" : "f";
    }
    return {};
}

void encode_description(
    protocol::byte_writer& writer,
    std::span<const field> columns,
    const formats& as
) {
    std::vector<protocol::backend::column> made;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        made.push_back(column_of(columns[i], i < as.size() ? as[i] : std::int16_t{0}));
    }
    protocol::backend::encode_row_description(writer, made);
}

void encode_row(protocol::byte_writer& writer, const row& values, const formats& as) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool binary = i < as.size() && as[i] != 0;
        texts.push_back(binary ? to_binary(values[i]) : to_text(values[i]));
    }
    std::vector<std::optional<std::string_view>> views;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool null = std::holds_alternative<std::monostate>(values[i]);
        views.push_back(null ? std::nullopt : std::optional<std::string_view>(texts[i]));
    }
    protocol::backend::encode_data_row(writer, views);
}

}  // namespace weir::proxy::console
