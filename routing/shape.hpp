// The shape of a SQL text: what is left of it when the values of its literals are left out.
// Texts of one shape have the same traits, so the parser runs once per shape.
#pragma once

#include "routing/lexer.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::routing {

// First word of the text, for decisions that must not wait for the parser.
enum class first_word : std::uint8_t {
    none,  // no statement in the text
    select,
    with,
    values,
    table,
    parenthesis,
    insert,
    update,
    remove,  // DELETE
    merge,
    begin,
    start,
    commit,
    end,
    rollback,
    abort,
    savepoint,
    release,
    set,
    reset,
    show,
    prepare,
    execute,
    deallocate,
    discard,
    listen,
    unlisten,
    notify,
    copy,
    explain,
    other,
};

struct shape {
    // Stable: the same in every process and version of the product. Shown, logged and matched in
    // rules.
    std::uint64_t hi = 0;
    std::uint64_t lo = 0;
    // Second hash, keyed with a random key of this process. Whoever compares it too cannot be given
    // a crafted collision.
    std::uint64_t guard = 0;
    std::uint16_t statements = 0;  // not counting empty ones; stays at its maximum
    first_word first = first_word::none;
    // False: a literal, name or comment has no end. Such a text belongs to the primary and into no
    // cache.
    bool complete = true;
    text_span hint;  // body of the first pgweir comment, see hints.hpp; length 0 if none

    // Do both texts have this shape? All three hashes agree.
    [[nodiscard]] bool same_as(const shape& other) const noexcept {
        return hi == other.hi && lo == other.lo && guard == other.guard;
    }
};

struct scan_options {
    bool standard_conforming_strings = true;
};

// One pass, no allocation, any thread.
//
// What counts: words (case folded), quoted names exactly, operators, marks, the number of a
// parameter, the *kind* of a literal (string, national string, bit string, number), and the words
// of a pgweir hint apart from its token. What does not: white space, other comments, the value of a
// literal. A run of literals of one kind behind "(" or "[", such as an IN list, counts as its first
// one; so does a run of parameters with consecutive numbers. The value of a literal does count
// where the class depends on it: in every statement that is not SELECT, WITH, VALUES, TABLE, "(",
// INSERT, UPDATE, DELETE or MERGE; behind current_setting( and UESCAPE; and for a number directly
// behind BY.
//
// Algorithm, version 1. Each token becomes one or more 64-bit words. Up to seven bytes of text:
// kind, a mark and the length in the top byte, the text (little endian) below. Longer: one word of
// kind and length, then the text in pieces of eight bytes, the last padded with zeros. A literal: a
// text of length 0. A parameter: kind and number. Each word goes into two lanes: lane = rotl(lane,
// r) ^ (low half ^ high half of the product (lane ^ word) * constant).
[[nodiscard]] shape scan(std::string_view sql, scan_options options = {}) noexcept;

// The stable hash as 32 hexadecimal digits.
[[nodiscard]] std::string to_string(const shape& value);

}  // namespace weir::routing
