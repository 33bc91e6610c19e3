#include "protocol/base64.hpp"

#include "wire_check.hpp"

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.base64");

TEST_CASE("the examples of RFC 4648 both ways") {
    struct {
        const char* raw;
        const char* text;
    } const cases[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"}};

    for (const auto& c : cases) {
        CAPTURE(c.text);
        CHECK(base64_encode(as_bytes(c.raw)) == c.text);
        CHECK(base64_decode(c.text) == c.raw);
    }
    CHECK(base64_encode(as_bytes(bytes("\xfb\xff\0"))) == "+/8A");
    CHECK(base64_decode("+/8A") == bytes("\xfb\xff\0"));
}

TEST_CASE("a text that encoding would not have given is refused") {
    for (const auto* text :
         {"Z",
          "Zg",
          "Zg=",
          "Zh==",
          "Zm9=",
          "Zg==Zg==",
          "====",
          "=",
          "Zm9v\n",
          "Zm 9",
          "Zm-_",
          "Z===",
          "Zg=g",
          "Zm9vYg==="}) {
        CAPTURE(text);
        CHECK_FALSE(base64_decode(text).has_value());
    }
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
