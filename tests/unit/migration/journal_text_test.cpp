#include "migration/journal.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace weir::migration {

TEST_SUITE_BEGIN("migration.journal_text");

TEST_CASE("arrays of texts read back as they were written") {
    const std::vector<std::vector<std::string>> all{
        {},
        {""},
        {"", ""},
        {"a", "b"},
        {"a,b", "{c}", "\"d\"", "\\e\\", "NULL", " f "},
        {"\n", "ä"}};
    for (const auto& elements : all) {
        const auto text = text_array(elements);
        CAPTURE(text);
        CHECK(parse_text_array(text) == elements);
    }
    CHECK(parse_text_array("{a,b}") == std::vector<std::string>{"a", "b"});
    CHECK(parse_text_array(R"({a,"",b})") == std::vector<std::string>{"a", "", "b"});
}

TEST_CASE("what is no array of texts") {
    for (const std::string_view text :
         {"",
          "{",
          "}",
          "a",
          "{a",
          "a}",
          "{NULL}",
          "{a,NULL}",
          "{\"a}",
          "{\"a\"b}",
          "{a,}",
          "{\\}"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_text_array(text).has_value());
    }
}

TEST_SUITE_END();

}  // namespace weir::migration
