#include "metrics/labels.hpp"

#include <doctest/doctest.h>

#include <string>

using weir::metrics::clean_label;

TEST_SUITE_BEGIN("metrics.labels");

TEST_CASE("valid text stays as it is") {
    for (const std::string text :
         {"", "app", "na\"me\\", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x90\x98", "\xED\x9F\xBF"}) {
        CAPTURE(text);
        CHECK(clean_label(text) == text);
    }
}

TEST_CASE("bytes that are no UTF-8 become question marks") {
    struct {
        std::string text, clean;
    } const cases[] = {
        {"a\xFFz", "a?z"},
        {"\xC3", "?"},
        {"\xC3z", "?z"},
        {"\xC0\xAF", "??"},            // overlong
        {"\xE0\x80\xAF", "???"},       // overlong
        {"\xED\xA0\x80", "???"},       // surrogate
        {"\xF4\x90\x80\x80", "????"},  // above U+10FFFF
        {"\xF5\x80\x80\x80", "????"},
        {"\xE2\x82", "??"},
        {"a\nb\x7F\x01", "a?b??"},
        {std::string("a\0b", 3), "a?b"},
    };

    for (const auto& c : cases) {
        CAPTURE(c.text);
        CHECK(clean_label(c.text) == c.clean);
    }
}

TEST_CASE("a long label is cut at a character's border") {
    CHECK(clean_label(std::string(200, 'x')) == std::string(128, 'x'));
    CHECK(clean_label(std::string(127, 'x') + "\xC3\xA4" + "y") == std::string(127, 'x'));
}

TEST_SUITE_END();
