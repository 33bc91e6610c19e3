#!/usr/bin/env python3
"""Writes unicode_tables.cpp: what SASLprep (RFC 4013) needs of Unicode 3.2, packed into strings.

Usage: unicode_tables.py > unicode_tables.cpp
Sources: Python's unicodedata (the decompositions, without the five errors that Unicode 3.2 still had) and
stringprep (the tables of RFC 3454).
"""
import stringprep
import unicodedata

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
CODES = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
ASSIGNED = [c for c in CODES if unicodedata.ucd_3_2_0.category(chr(c)) != "Cn"]
HANGUL = range(0xAC00, 0xD7A4)  # composed and decomposed by arithmetic


def number(value):
    """Five bits a digit, lowest first; the upper half of the digits says that more follow."""
    text = ""
    while value >= 32:
        text += DIGITS[32 + value % 32]
        value //= 32
    return text + DIGITS[value]


def signed(value):
    return number(2 * value if value >= 0 else -2 * value - 1)


def ranges(member):
    """Gap since the last range, and size minus one, of each range."""
    text, start, end = "", None, 0
    for code in [*range(0x110000), None]:
        inside = code is not None and member(chr(code))
        if inside and start is None:
            start = code
        if not inside and start is not None:
            last = code - 1 if code is not None else 0x10FFFF
            text += number(start - end) + number(last - start)
            start, end = None, last + 1
    return text


def decompositions():
    """Gap, count, code points of the full compatibility decomposition."""
    text, before, first = "", 0, 0
    for code in ASSIGNED:
        full = unicodedata.normalize("NFKD", chr(code))
        if code in HANGUL or full == chr(code):
            continue
        text += number(code - before) + number(len(full))
        previous = first
        for target in map(ord, full):
            text += signed(target - previous)
            previous = target
        before, first = code, ord(full[0])
    return text


def compositions():
    """Gap, and both code points, of each pair that composes."""
    text, before, second_before = "", 0, 0
    for code in ASSIGNED:
        parts = unicodedata.decomposition(chr(code)).split()
        if code in HANGUL or len(parts) != 2 or parts[0].startswith("<"):
            continue
        first, second = (int(part, 16) for part in parts)
        if unicodedata.normalize("NFC", chr(first) + chr(second)) != chr(code):
            continue
        text += number(code - before) + signed(first - code) + signed(second - second_before)
        before, second_before = code, second
    return text


def combining_classes():
    """Gap, size minus one, class of each run of one combining class."""
    text, end, run = "", 0, []
    for code in [*ASSIGNED, None]:
        kind = unicodedata.combining(chr(code)) if code is not None else 0
        if run and (code != run[-1] + 1 or kind != unicodedata.combining(chr(run[0]))):
            text += number(run[0] - end) + number(len(run) - 1)
            text += number(unicodedata.combining(chr(run[0])))
            end, run = run[-1] + 1, []
        if kind:
            run.append(code)
    return text


def to_nothing(c):
    return stringprep.in_table_b1(c) and not to_space(c)


def to_space(c):
    return stringprep.in_table_c12(c)


def prohibited(c):
    tables = (stringprep.in_table_c12, stringprep.in_table_c21, stringprep.in_table_c22,
              stringprep.in_table_c3, stringprep.in_table_c4, stringprep.in_table_c5,
              stringprep.in_table_c6, stringprep.in_table_c7, stringprep.in_table_c8,
              stringprep.in_table_c9, stringprep.in_table_a1)
    return any(table(c) for table in tables)


def main():
    print("// Made by unicode_tables.py; not to be edited.")
    print('#include "protocol/unicode_tables.hpp"\n')
    print("// clang-format off")
    print("namespace weir::protocol::unicode_tables {\n")
    tables = [("decompositions", decompositions()), ("compositions", compositions()),
              ("combining_classes", combining_classes()), ("to_space", ranges(to_space)),
              ("to_nothing", ranges(to_nothing)), ("prohibited", ranges(prohibited)),
              ("right_to_left", ranges(stringprep.in_table_d1)), ("left_to_right", ranges(stringprep.in_table_d2))]
    for name, text in tables:
        print(f"const std::string_view {name} =")
        lines = [text[i:i + 112] for i in range(0, len(text), 112)]
        print("\n".join(f'    "{line}"' for line in lines) + ";\n")
    print("}  // namespace weir::protocol::unicode_tables")


if __name__ == "__main__":
    main()
