#include "protocol/byte_writer.hpp"

#include "wire_check.hpp"

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.byte_writer");

TEST_CASE("a message gets its length when it goes out of scope and others stay untouched") {
    buffer out = exact("before");
    byte_writer writer(out);
    {
        const auto message = writer.message('Q');
        writer.cstring("select 1");
    }
    {
        const auto packet = writer.packet();
        writer.u16(0x0102);
    }
    CHECK(text_of(out) == bytes("beforeQ\0\0\0\x0dselect 1\0\0\0\0\x06\x01\x02"));
}

TEST_CASE("a message of more than 64 kB has all four bytes of its length") {
    buffer out;
    byte_writer writer(out);
    {
        const auto message = writer.message('d');
        writer.bytes(std::string(0x012345, 'x'));
    }
    CHECK(text_of(out).substr(0, 5) == bytes("d\0\x01\x23\x49"));
}

TEST_CASE("numbers are written in network order") {
    const auto wire = encoded([](byte_writer& writer) {
        writer.u8(1);
        writer.i16(-2);
        writer.i32(-3);
        writer.i64(-4);
    });
    CHECK(wire == bytes("\x01\xff\xfe\xff\xff\xff\xfd\xff\xff\xff\xff\xff\xff\xff\xfc"));
}

TEST_CASE("a zero inside a text ends it and cannot begin another field") {
    const auto wire = encoded([](byte_writer& writer) { writer.cstring(bytes("ab\0cd")); });
    CHECK(wire == bytes("ab\0"));
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
