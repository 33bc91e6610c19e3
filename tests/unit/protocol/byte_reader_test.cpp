#include "protocol/byte_reader.hpp"

#include "wire_check.hpp"

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.byte_reader");

TEST_CASE("numbers are read in network order and negative ones keep their sign") {
    const auto raw = exact(bytes("\x01\xff\xfe\x80\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01\x00"));
    byte_reader reader(raw);
    CHECK(reader.u8() == 1);
    CHECK(reader.i16() == -2);
    CHECK(reader.i32() == -2147483647);
    CHECK(reader.i64() == 256);
    CHECK(reader.finish() == error_code{});
}

TEST_CASE("a text ends at its zero and the rest is what is left") {
    const auto raw = exact(bytes("ab\0\0cd"));
    byte_reader reader(raw);
    CHECK(reader.cstring() == "ab");
    CHECK(reader.cstring().empty());
    CHECK(reader.offset() == 4);
    CHECK(reader.rest() == "cd");
    CHECK(reader.finish() == error_code{});
}

TEST_CASE("the first error stays and every later read gives nothing") {
    const auto raw = exact(bytes("\x01\x02"));
    byte_reader reader(raw);
    CHECK(reader.i32() == 0);
    CHECK(reader.u8() == 0);
    CHECK(reader.cstring().empty());
    CHECK(reader.bytes(1).empty());
    reader.fail(errc::bad_value);
    CHECK(reader.finish() == errc::truncated);
}

TEST_CASE("a text without zero and bytes left over are errors of their own") {
    const auto raw = exact("ab");
    byte_reader text(raw);
    CHECK(text.cstring().empty());
    CHECK(text.finish() == errc::unterminated_string);
    byte_reader left(raw);
    CHECK(left.u8() == 'a');
    CHECK(left.finish() == errc::trailing_bytes);
}

TEST_CASE("a count far beyond the end does not wrap around") {
    const auto raw = exact("ab");
    byte_reader reader(raw);
    CHECK(reader.u8() == 'a');
    CHECK(reader.bytes(static_cast<std::size_t>(-1)).empty());
    CHECK(reader.error() == errc::truncated);
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
