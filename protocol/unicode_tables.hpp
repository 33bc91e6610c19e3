// Tables of Unicode 3.2 and RFC 3454, packed into strings of digits; see unicode_tables.py for
// their forms. Only protocol/unicode.cpp and protocol/saslprep.cpp read them.
#pragma once

#include <string_view>

namespace weir::protocol::unicode_tables {

extern const std::string_view decompositions;
extern const std::string_view compositions;
extern const std::string_view combining_classes;
extern const std::string_view to_space;
extern const std::string_view to_nothing;
extern const std::string_view prohibited;
extern const std::string_view right_to_left;
extern const std::string_view left_to_right;

}  // namespace weir::protocol::unicode_tables
