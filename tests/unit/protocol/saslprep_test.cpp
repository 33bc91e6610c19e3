#include "protocol/saslprep.hpp"

#include "wire_check.hpp"

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.saslprep");

TEST_CASE("passwords become what RFC 4013 and PostgreSQL make of them") {
    struct {
        const char* name;
        const char* given;
        const char* prepared;
    } const cases[] = {
        {"ascii, with control characters", "p%41ss\a", "p%41ss\a"},
        {"composed letters stay", "p\u00e4ssw\u00f6rd", "p\u00e4ssw\u00f6rd"},
        {"decomposed letters are composed", "pa\u0308sswo\u0308rd", "p\u00e4ssw\u00f6rd"},
        {"two marks out of order", "q\u0307\u0323", "q\u0323\u0307"},
        {"two marks that compose one after the other", "s\u0307\u0323", "\u1e69"},
        {"a mark of the same class blocks the next", "a\u0300\u0308", "\u00e0\u0308"},
        {"compatibility letters", "\u00aa\u00b2\u00bd\u00b5\ufb01", "a21\u20442\u03bcfi"},
        {"roman numeral nine", "\u2168", "IX"},
        {"an acute accent of its own", "\u00b4", " \u0301"},
        {"spaces become one kind", "a\u00a0b\u3000c\u200bd", "a b c d"},
        {"soft hyphen and joiners vanish", "I\u00adX\u200d\ufeff", "IX"},
        {"hangul from its parts", "\u1112\u1161\u11ab", "\ud55c"},
        {"hangul stays whole", "\ud55c\uae00", "\ud55c\uae00"},
        {"composition that is excluded stays apart", "\u0915\u093c", "\u0915\u093c"},
        {"excluded composite is decomposed", "\u0958", "\u0915\u093c"},
        {"beyond the basic plane", "\U0001d400\U0002f800", "A\u4e3d"},
        {"arabic alone", "\u0627\u0661\u0628", "\u0627\u0661\u0628"},
        {"presentation form", "\ufe8d", "\u0627"},
    };

    for (const auto& c : cases) {
        CAPTURE(c.name);
        CHECK(prepare_password(c.given) == c.prepared);
    }
}

TEST_CASE("what is refused is used as it is") {
    struct {
        const char* name;
        std::string given;
    } const cases[] = {
        {"control character beside others", "\a\u00aa"},
        {"only characters that vanish", "\u00ad"},
        {"private use", "\ue000\u00aa"},
        {"unassigned in Unicode 3.2", "\u0221\u00aa"},
        {"emoji, which came later", "\U0001f600\u00aa"},
        {"letters of both directions", "\u0627a\u00aa"},
        {"right to left that ends otherwise", "\u06271"},
        {"not UTF-8", "\xff\xc2\xaa"},
        {"cut in a character", "\xc2\xaa\xc3"},
        {"overlong form", "\xc0\xaf\xc2\xaa"},
        {"surrogate", "\xed\xa0\x80\xc2\xaa"},
        {"above the last code point", "\xf4\x90\x80\x80\xc2\xaa"},
    };

    for (const auto& c : cases) {
        CAPTURE(c.name);
        CHECK(prepare_password(c.given) == c.given);
    }
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
