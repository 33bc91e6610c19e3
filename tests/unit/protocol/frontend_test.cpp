#include "protocol/frontend.hpp"

#include "wire_check.hpp"

namespace weir::protocol::frontend {

using test::bytes;
using test::check_exact_and_back;
using test::check_message;
using test::decode_error;
using test::encoded;
using test::exact;

TEST_SUITE_BEGIN("protocol.frontend");

TEST_CASE("Query") {
    check_message(query{.text = "select 1"}, bytes("Q\0\0\0\x0dselect 1\0"));
}

TEST_CASE("Parse without and with parameter types") {
    check_message(parse{"", "select 1", ""}, bytes("P\0\0\0\x10\0select 1\0\0\0"));
    const auto oids = bytes("\0\0\0\x17\x80\0\0\x01");
    const parse typed{"s1", "select $1", oids};
    check_message(typed, bytes("P\0\0\0\x1bs1\0select $1\0\0\x02\0\0\0\x17\x80\0\0\x01"));
    CHECK(typed.oid_count() == 2);
    CHECK(typed.oid(0) == 23);
    CHECK(typed.oid(1) == 0x80000001);
}

TEST_CASE("Parse that announces more types than it has is truncated") {
    CHECK(decode_error<parse>(bytes("\0select 1\0\xff\xff\0\0\0\x17")) == errc::truncated);
}

TEST_CASE("Bind with values of every kind") {
    const auto tail = bytes(
        "\0\x03\0\0\0\x01\0\0"                              // formats: text, binary, text
        "\0\x03\0\0\0\x02hi\0\0\0\x01\x07\xff\xff\xff\xff"  // "hi", 7, null
        "\0\x01\0\x01"                                      // results: binary
    );
    const bind message{.portal = "p", .statement = "s1", .tail = tail};
    check_message(message, bytes("B\0\0\0\x26p\0s1\0") + tail);
    CHECK(*read_bind_parameter(tail, 1) == bind_parameter{false, false, "hi"});
    CHECK(*read_bind_parameter(tail, 2) == bind_parameter{false, true, "\x07"});
    CHECK(*read_bind_parameter(tail, 3) == bind_parameter{true, false, ""});
    CHECK(read_bind_parameter(tail, 0).error() == errc::bad_value);
    CHECK(read_bind_parameter(tail, 4).error() == errc::bad_value);
}

TEST_CASE("one format code is for all parameters and none means text") {
    const auto one = bytes("\0\x01\0\x01\0\x02\0\0\0\x01x\0\0\0\x01y\0\0");
    CHECK(*read_bind_parameter(one, 2) == bind_parameter{false, true, "y"});
    const auto none = bytes("\0\0\0\x02\0\0\0\x01x\0\0\0\x01y\0\0");
    CHECK(*read_bind_parameter(none, 2) == bind_parameter{false, false, "y"});
}

TEST_CASE("the head of a Bind and its first values can be read before the rest has come") {
    const auto body = bytes("p\0s1\0\0\0\0\x02\0\0\0\x01x\0\x10\0\0");
    const auto raw = exact(body);
    const auto head = bind_head::decode(raw);
    REQUIRE(head.has_value());
    CHECK(*head == bind_head{.portal = "p", .statement = "s1", .size = 5});
    CHECK(*read_bind_parameter(body.substr(head->size), 1) == bind_parameter{false, false, "x"});
    CHECK(read_bind_parameter(body.substr(head->size), 2).error() == errc::truncated);
    for (std::size_t size = 0; size < 5; ++size) {
        CHECK(decode_error<bind_head>(body.substr(0, size)) == errc::unterminated_string);
    }
}

TEST_CASE("a value with a negative length other than null is refused") {
    const auto tail = bytes("\0\0\0\x01\xff\xff\xff\xfe\0\0");
    CHECK(decode_error<bind>(bytes("\0\0") + tail) == errc::bad_count);
    CHECK(read_bind_parameter(tail, 1).error() == errc::bad_count);
}

TEST_CASE("Describe and Close of statements and portals") {
    check_message(describe{object::statement, "s1"}, bytes("D\0\0\0\x08Ss1\0"));
    check_message(describe{object::portal, ""}, bytes("D\0\0\0\x06P\0"));
    check_message(close{object::statement, "s1"}, bytes("C\0\0\0\x08Ss1\0"));
    check_message(close{object::portal, "p"}, bytes("C\0\0\0\x07Pp\0"));
    CHECK(decode_error<describe>(bytes("X\0")) == errc::bad_value);
    CHECK(decode_error<close>(bytes("s\0")) == errc::bad_value);
}

TEST_CASE("Execute") {
    check_message(execute{"", 0}, bytes("E\0\0\0\x09\0\0\0\0\0"));
    check_message(execute{"p1", 100}, bytes("E\0\0\0\x0bp1\0\0\0\0\x64"));
}

TEST_CASE("FunctionCall") {
    const auto tail = bytes("\0\x01\0\x01\0\x02\0\0\0\x01x\xff\xff\xff\xff\0\x01");
    check_message(
        function_call{.function = 715, .tail = tail},
        bytes("F\0\0\0\x19\0\0\x02\xcb") + tail
    );
}

TEST_CASE("password messages") {
    check_message(password{"secret"}, bytes("p\0\0\0\x0bsecret\0"));
    check_message(
        sasl_initial_response{"SCRAM-SHA-256", true, "n,,n=,r=x"},
        bytes("p\0\0\0\x1fSCRAM-SHA-256\0\0\0\0\x09n,,n=,r=x")
    );
    check_message(
        sasl_initial_response{"SCRAM-SHA-256", false, ""},
        bytes("p\0\0\0\x16SCRAM-SHA-256\0\xff\xff\xff\xff")
    );
    check_exact_and_back(
        sasl_response{"c=biws"},
        bytes("p\0\0\0\x0a"
              "c=biws")
    );
}

TEST_CASE("CopyFail") {
    check_message(copy_fail{"no"}, bytes("f\0\0\0\x07no\0"));
}

TEST_CASE("messages without content are a type and a length") {
    const auto wire = encoded([](byte_writer& writer) {
        encode_empty(writer, kind::sync);
        encode_empty(writer, kind::flush);
        encode_empty(writer, kind::terminate);
        encode_empty(writer, kind::copy_done);
    });
    CHECK(
        wire == bytes("S\0\0\0\x04H\0\0\0\x04X\0\0\0\x04"
                      "c\0\0\0\x04")
    );
}

TEST_SUITE_END();

}  // namespace weir::protocol::frontend
