// What can go wrong at a store, and what the caller may do about it.
#pragma once

#include <boost/system/result.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace weir::migration::store {

enum class fault : std::uint8_t {
    unreachable,  // no answer, or half of one: it may have been carried out; try again
    throttled,    // too much at once (429, 503); try again, after `retry_after` if that is given
    failed,       // the store's own trouble (5xx, 408, 409 while it is busy); try again
    refused,      // it will never take this request (other 4xx): split it, or leave the row out
    too_large,    // the request as a whole (413): split it
    missing,      // namespace or collection is not there
    denied,       // key or right is missing (401, 403): nothing will pass until that is changed
};

struct error {
    fault what = fault::failed;
    // One line: store, address, what was asked and what it answered. No vectors, no secrets.
    std::string text;
    std::optional<std::chrono::milliseconds> retry_after{};
};

// Whether the same request may succeed later without anybody's help.
[[nodiscard]] constexpr bool passing(fault what) {
    return what == fault::unreachable || what == fault::throttled || what == fault::failed;
}

// boost::system::result calls this when value() is asked of an error: a mistake of the program.
[[noreturn]] inline void
throw_exception_from_error(const error& what, const boost::source_location&) {
    throw std::logic_error("unchecked error of a store: " + what.text);
}

template <typename Value>
using result = boost::system::result<Value, error>;

}  // namespace weir::migration::store
