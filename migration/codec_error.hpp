// What can be wrong with the bytes of a value that a server has sent.
#pragma once

#include <boost/system/result.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weir::migration {

enum class codec_fault : std::uint8_t {
    bad_length,      // shorter or longer than its type or its own counts say
    bad_dimensions,  // a vector of no numbers, or of more than max_dimensions
    not_finite,      // a number of a vector is NaN or infinite
    bad_value,       // a field holds what its type cannot have
    bad_syntax,      // a text that is not of its type's form
};

[[nodiscard]] constexpr std::string_view to_text(codec_fault what) {
    switch (what) {
    case codec_fault::bad_length: return "the length is wrong";
    case codec_fault::bad_dimensions: return "the number of dimensions is out of range";
    case codec_fault::not_finite: return "a number is not finite";
    case codec_fault::bad_value: return "a field has an impossible value";
    case codec_fault::bad_syntax: return "the text is not of its type's form";
    }
    return "";
}

// boost::system::result calls this when value() is asked of an error: a mistake of the program.
[[noreturn]] inline void
throw_exception_from_error(codec_fault what, const boost::source_location&) {
    throw std::logic_error("unchecked error of a value: " + std::string(to_text(what)));
}

template <typename Value>
using codec_result = boost::system::result<Value, codec_fault>;

}  // namespace weir::migration
