#include "protocol/backend.hpp"

#include <array>

#include "wire_check.hpp"

namespace weir::protocol::backend {

using test::bytes;
using test::check_every_cut;
using test::check_exact_and_back;
using test::check_message;
using test::decode_error;
using test::encoded;
using test::exact;

TEST_SUITE_BEGIN("protocol.backend");

TEST_CASE("authentication requests without data") {
    check_message(authentication{authentication_kind::ok, ""}, bytes("R\0\0\0\x08\0\0\0\0"));
    check_message(
        authentication{authentication_kind::cleartext_password, ""},
        bytes("R\0\0\0\x08\0\0\0\x03")
    );
}

TEST_CASE("the md5 request carries four bytes of salt") {
    const auto salt = bytes("\x01\0\x03\xff");
    check_message(
        authentication{authentication_kind::md5_password, salt},
        bytes("R\0\0\0\x0c\0\0\0\x05\x01\0\x03\xff")
    );
}

TEST_CASE("the SASL request lists mechanisms") {
    const auto list = bytes("SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0");
    const authentication message{authentication_kind::sasl, list};
    check_message(message, bytes("R\0\0\0\x2a\0\0\0\x0a") + list);
    CHECK(message.offers("SCRAM-SHA-256"));
    CHECK(message.offers("SCRAM-SHA-256-PLUS"));
    CHECK_FALSE(message.offers("SCRAM"));
    CHECK_FALSE(message.offers(""));
}

TEST_CASE("SASL data goes to the end of the message") {
    check_exact_and_back(
        authentication{authentication_kind::sasl_continue, "r=x"},
        bytes("R\0\0\0\x0b\0\0\0\x0br=x")
    );
    check_exact_and_back(
        authentication{authentication_kind::sasl_final, "v=y"},
        bytes("R\0\0\0\x0b\0\0\0\x0cv=y")
    );
    for (std::size_t size = 0; size < 4; ++size) {
        CHECK(decode_error<authentication>(bytes("\0\0\0\x0b").substr(0, size)) == errc::truncated);
    }
}

TEST_CASE("Kerberos GSSAPI and SSPI requests are not supported") {
    for (const int code : {2, 6, 7, 8, 9, 13, 127}) {
        CAPTURE(code);
        CHECK(
            decode_error<authentication>(bytes("\0\0\0") + static_cast<char>(code)) ==
            errc::unsupported_authentication
        );
    }
}

TEST_CASE("ParameterStatus") {
    check_message(parameter_status{"TimeZone", "UTC"}, bytes("S\0\0\0\x11TimeZone\0UTC\0"));
}

TEST_CASE("BackendKeyData of protocol 3.0 and of 3.2") {
    const auto key = bytes("\0\x01\x02\xff");
    check_exact_and_back(
        backend_key_data{-2, key},
        bytes("K\0\0\0\x0c\xff\xff\xff\xfe\0\x01\x02\xff")
    );
    check_every_cut<backend_key_data>(bytes("\xff\xff\xff\xfe\0\x01\x02\xff"));
    const std::string longest(256, 'k');
    check_exact_and_back(backend_key_data{1, longest}, bytes("K\0\0\x01\x08\0\0\0\x01") + longest);
    CHECK(
        decode_error<backend_key_data>(bytes("\0\0\0\x01") + longest + "k") == errc::bad_cancel_key
    );
}

TEST_CASE("ReadyForQuery knows three states") {
    check_message(ready_for_query{transaction_status::idle}, bytes("Z\0\0\0\x05I"));
    check_message(ready_for_query{transaction_status::in_transaction}, bytes("Z\0\0\0\x05T"));
    check_message(
        ready_for_query{transaction_status::failed},
        bytes("Z\0\0\0\x05"
              "E")
    );
    CHECK(decode_error<ready_for_query>("X") == errc::bad_value);
}

TEST_CASE("CommandComplete and NotificationResponse") {
    check_message(command_complete{"INSERT 0 1"}, bytes("C\0\0\0\x0fINSERT 0 1\0"));
    check_message(
        notification_response{258, "q", "hello"},
        bytes("A\0\0\0\x10\0\0\x01\x02q\0hello\0")
    );
}

TEST_CASE("an error made here has both severities and only the fields that are filled") {
    diagnostic what{
        .level = severity::fatal,
        .code = sqlstates::invalid_password,
        .message = "no",
        .detail = {},
        .hint = {}};
    const auto plain = encoded([&](byte_writer& writer) { encode_error(writer, what); });
    CHECK(plain == bytes("E\0\0\0\x1eSFATAL\0VFATAL\0C28P01\0Mno\0\0"));
    what.level = severity::notice;
    what.detail = "d";
    what.hint = "h";
    const auto full = encoded([&](byte_writer& writer) { encode_notice(writer, what); });
    CHECK(full == bytes("N\0\0\0\x26SNOTICE\0VNOTICE\0C28P01\0Mno\0Dd\0Hh\0\0"));
}

TEST_CASE("the fields of an error are found by their type") {
    const auto body = bytes("SFATAL\0VFATAL\0C3D000\0Mmissing\0Ddetail\0Hhint\0RInitPostgres\0\0");
    const auto raw = exact(body);
    const auto fields = response_fields::decode(raw);
    REQUIRE(fields.has_value());
    CHECK(fields->severity() == "FATAL");
    CHECK(fields->is_fatal());
    CHECK(fields->sqlstate() == sqlstates::invalid_catalog_name);
    CHECK(fields->message() == "missing");
    CHECK(fields->detail() == "detail");
    CHECK(fields->hint() == "hint");
    CHECK(fields->routine() == "InitPostgres");
    CHECK(fields->field('q').empty());
    check_every_cut<response_fields>(body);
    CHECK(decode_error<response_fields>(body + "x") == errc::trailing_bytes);
    CHECK(encoded([&](byte_writer& writer) {
              fields->encode(writer, kind::error_response);
          }) == bytes("E\0\0\0\x3f") + body);
}

TEST_CASE("a translated severity and a strange code do not mislead") {
    const auto body = bytes("SFATALE\0VFATAL\0Cxx\0\0");
    const auto raw = exact(body);
    const auto fields = response_fields::decode(raw);
    REQUIRE(fields.has_value());
    CHECK(fields->severity() == "FATAL");
    CHECK(fields->localized_severity() == "FATALE");
    CHECK(fields->sqlstate() == sqlstates::internal_error);
    const auto old = bytes("SERROR\0C42601\0\0");
    const auto old_raw = exact(old);
    const auto old_fields = response_fields::decode(old_raw);
    REQUIRE(old_fields.has_value());
    CHECK(old_fields->severity() == "ERROR");
    CHECK_FALSE(old_fields->is_fatal());
}

TEST_CASE("NegotiateProtocolVersion") {
    const auto names = bytes("_pq_.a\0_pq_.b\0");
    check_message(
        negotiate_protocol_version{0x00030000, 2, names},
        bytes("v\0\0\0\x1a\0\x03\0\0\0\0\0\x02_pq_.a\0_pq_.b\0")
    );
    check_message(
        negotiate_protocol_version{0x00030002, 0, ""},
        bytes("v\0\0\0\x0c\0\x03\0\x02\0\0\0\0")
    );
    CHECK(
        decode_error<negotiate_protocol_version>(bytes("\0\x03\0\0\xff\xff\xff\xff")) ==
        errc::bad_count
    );
}

TEST_CASE("rows made here are described as columns without a table") {
    const std::array<column, 2> columns{
        column{.name = "a", .type = text_oid, .type_size = -1, .format = 0},
        column{.name = "n", .type = 20, .type_size = 8, .format = 1},
    };
    CHECK(
        encoded([&](byte_writer& writer) { encode_row_description(writer, columns); }) ==
        bytes("T\0\0\0\x2e\0\x02"
              "a\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0"
              "n\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\x01")
    );
    const std::array<std::optional<std::string_view>, 3> values{"x", std::nullopt, ""};
    CHECK(encoded([&](byte_writer& writer) {
              encode_data_row(writer, values);
          }) == bytes("D\0\0\0\x13\0\x03\0\0\0\x01x\xff\xff\xff\xff\0\0\0\0"));
}

TEST_CASE("answers without content are a type and a length") {
    CHECK(encoded([](byte_writer& writer) {
              encode_empty(writer, kind::parse_complete);
          }) == bytes("1\0\0\0\x04"));
}

TEST_SUITE_END();

}  // namespace weir::protocol::backend
