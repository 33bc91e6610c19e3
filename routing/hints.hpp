// What a client asks for in a comment: /* pgweir: consistency=bounded:2s target=replicas token=… */
#pragma once

#include "config/config.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::routing {

enum class hint_problem : std::uint8_t {
    none,
    no_value,       // a word without "="
    unknown_key,    // neither consistency nor target nor token
    unknown_value,  // of consistency or target
    bad_duration,   // behind "bounded:", or zero
    not_available,  // consistency=latest or consistency=session, of a later version
};

// Views into the hint's text. Keys that are wrong do not spoil those that are right.
struct hints {
    std::optional<config::consistency> consistency;
    std::optional<config::targets> target;
    std::string_view token;  // as given; empty if none

    hint_problem problem = hint_problem::none;  // the first one
    std::string_view culprit;                   // the word it is in
};

// The body of the comment, as shape::hint marks it: words "key=value" with blanks or commas
// between. Keys and values in any case of letters; of a key given twice the last counts. Pure, no
// allocation.
[[nodiscard]] hints parse_hints(std::string_view body);

// One of its words, taken apart. `out` is changed unless there is a problem.
[[nodiscard]] hint_problem
read_hint(std::string_view key, std::string_view value, hints& out) noexcept;

// One sentence about the problem, without the culprit.
[[nodiscard]] std::string_view describe(hint_problem problem) noexcept;

}  // namespace weir::routing
