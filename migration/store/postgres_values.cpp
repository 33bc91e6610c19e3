#include "migration/store/postgres_values.hpp"

#include <boost/endian/conversion.hpp>

#include <bit>
#include <cstring>
#include <limits>

namespace weir::migration::store {
namespace {

// Microseconds from 1970-01-01 to 2000-01-01, where PostgreSQL's timestamps begin.
constexpr std::int64_t epoch = 946'684'800'000'000;
constexpr auto earliest = std::numeric_limits<std::int64_t>::min();
constexpr auto latest = std::numeric_limits<std::int64_t>::max();

template <typename Number>
void put(std::string& out, Number number) {
    boost::endian::native_to_big_inplace(number);
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    out.append(bytes, sizeof number);
}

// Writes a length of which the bytes come later.
class counted {
public:
    explicit counted(std::string& out) : out_(out), start_(out.size()) { put(out, 0); }

    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;

    ~counted() {
        auto length = static_cast<std::int32_t>(out_.size() - start_ - sizeof(std::int32_t));
        boost::endian::native_to_big_inplace(length);
        std::memcpy(out_.data() + start_, &length, sizeof length);
    }

private:
    std::string& out_;
    std::size_t start_;
};

template <typename Number>
std::optional<Number> get(std::string_view field) {
    Number number{};
    if (field.size() != sizeof number) {
        return std::nullopt;
    }
    std::memcpy(&number, field.data(), sizeof number);
    return boost::endian::big_to_native(number);
}

std::int64_t to_server(std::int64_t time) {
    return time == earliest || time == latest ? time : time - epoch;
}

std::int64_t from_server(std::int64_t time) {
    return time == earliest || time == latest ? time : time + epoch;
}

}  // namespace

wire_type wire_type_of(value_kind kind) {
    switch (kind) {
    case value_kind::boolean: return {"boolean", 16};
    case value_kind::integer: return {"bigint", 20};
    case value_kind::real: return {"double precision", 701};
    case value_kind::timestamp:
    case value_kind::date: return {"timestamp with time zone", 1184};
    case value_kind::numeric:
    case value_kind::text:
    case value_kind::uuid:
    case value_kind::json: break;
    }
    return text_type;
}

void put_value(std::string& out, value_kind kind, const value& what) {
    switch (kind) {
    case value_kind::boolean: out += std::get<bool>(what) ? '\1' : '\0'; break;
    case value_kind::integer: put(out, std::get<std::int64_t>(what)); break;
    case value_kind::real: put(out, std::bit_cast<std::uint64_t>(std::get<double>(what))); break;
    case value_kind::timestamp:
    case value_kind::date: put(out, to_server(std::get<std::int64_t>(what))); break;
    case value_kind::numeric:
    case value_kind::text:
    case value_kind::uuid:
    case value_kind::json: out += std::get<std::string>(what); break;
    }
}

void put_vector(std::string& out, std::span<const float> what) {
    put(out, static_cast<std::int16_t>(what.size()));
    put(out, std::int16_t{0});
    const auto start = out.size();
    out.resize(start + what.size() * sizeof(float));
    char* place = out.data() + start;
    for (const float number : what) {
        const auto bits = boost::endian::native_to_big(std::bit_cast<std::uint32_t>(number));
        std::memcpy(place, &bits, sizeof bits);
        place += sizeof bits;
    }
}

std::optional<std::int64_t> read_integer(std::string_view field) {
    return get<std::int64_t>(field);
}

std::optional<double> read_real(std::string_view field) {
    const auto bits = get<std::uint64_t>(field);
    return bits ? std::optional(std::bit_cast<double>(*bits)) : std::nullopt;
}

std::optional<std::uint32_t> read_part(std::string_view field) {
    return get<std::uint32_t>(field);
}

std::optional<value> read_value(value_kind kind, std::string_view field) {
    switch (kind) {
    case value_kind::boolean:
        return field.size() == 1 ? std::optional<value>(field.front() != '\0') : std::nullopt;
    case value_kind::real: {
        const auto number = read_real(field);
        return number ? std::optional<value>(*number) : std::nullopt;
    }
    case value_kind::integer:
    case value_kind::timestamp:
    case value_kind::date: {
        const auto number = read_integer(field);
        if (!number) {
            return std::nullopt;
        }
        return value(kind == value_kind::integer ? *number : from_server(*number));
    }
    case value_kind::numeric:
    case value_kind::text:
    case value_kind::uuid:
    case value_kind::json: break;
    }
    return value(std::string(field));
}

std::optional<std::vector<float>> read_vector(std::string_view field) {
    constexpr std::size_t head = 2 * sizeof(std::int16_t);
    const auto count = get<std::uint16_t>(field.substr(0, sizeof(std::uint16_t)));
    if (!count || field.size() != head + *count * sizeof(float)) {
        return std::nullopt;
    }
    std::vector<float> numbers(*count);
    const char* place = field.data() + head;
    for (auto& number : numbers) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, place, sizeof bits);
        number = std::bit_cast<float>(boost::endian::big_to_native(bits));
        place += sizeof bits;
    }
    return numbers;
}

array_writer::array_writer(std::uint32_t type, std::size_t count, std::size_t bytes) {
    bytes_.reserve(20 + count * (bytes + 4));
    put(bytes_, std::int32_t{1});  // dimensions
    put(bytes_, std::int32_t{1});  // there may be NULLs
    put(bytes_, type);
    put(bytes_, static_cast<std::int32_t>(count));
    put(bytes_, std::int32_t{1});  // index of the first element
}

void array_writer::add(value_kind kind, const value& what) {
    if (is_null(what)) {
        put(bytes_, std::int32_t{-1});
        return;
    }
    const counted length(bytes_);
    put_value(bytes_, kind, what);
}

void array_writer::add(std::span<const float> vector) {
    const counted length(bytes_);
    put_vector(bytes_, vector);
}

void array_writer::add(std::string_view text) {
    const counted length(bytes_);
    bytes_ += text;
}

void array_writer::add(std::uint32_t part_or_index) {
    put(bytes_, std::int32_t{sizeof part_or_index});
    put(bytes_, part_or_index);
}

}  // namespace weir::migration::store
