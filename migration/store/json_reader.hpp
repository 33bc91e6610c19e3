// JSON of stores as a document model, with numbers as exact as they were sent.
#pragma once

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::store {

// nullopt if it is no JSON. Integers are exact over both 64-bit ranges; fractions become the
// nearest double, which Boost.JSON before 1.84 does not promise.
[[nodiscard]] std::optional<boost::json::value> parse_json(std::string_view text);

// Views and numbers of what may be there or not; a null pointer where it is not, or is of another
// type.
[[nodiscard]] const boost::json::value*
member(const boost::json::value* of, std::string_view name) noexcept;
[[nodiscard]] const boost::json::array* array_of(const boost::json::value* what) noexcept;
[[nodiscard]] const boost::json::object* object_of(const boost::json::value* what) noexcept;
[[nodiscard]] std::optional<std::string_view> text_of(const boost::json::value* what) noexcept;
[[nodiscard]] std::optional<std::int64_t> integer_of(const boost::json::value* what) noexcept;
[[nodiscard]] std::optional<std::uint64_t> unsigned_of(const boost::json::value* what) noexcept;
[[nodiscard]] std::optional<double> number_of(const boost::json::value* what) noexcept;
// An array of numbers.
[[nodiscard]] std::optional<std::vector<float>> vector_of(const boost::json::value* what);

}  // namespace weir::migration::store
