// Table of statements and what they are, for the tests of the parser.
#pragma once

#include "routing/names.hpp"
#include "routing/sql_parser.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>

namespace weir::routing {

struct classified {
    const char* sql;
    const char* expected;  // kind, reason and, if there is one, pin
};

inline std::string class_of(std::string_view sql) {
    const auto value = parse(sql).value;
    auto text = std::string(name_of(value.kind)) + " " + std::string(name_of(value.reason));
    if (value.pin != pin_reason::none) {
        text += " " + std::string(name_of(value.pin));
    }
    return text;
}

inline void check_classes(std::span<const classified> cases) {
    for (const auto& c : cases) {
        CAPTURE(std::string(c.sql));
        CHECK(class_of(c.sql) == std::string(c.expected));
    }
}

}  // namespace weir::routing
