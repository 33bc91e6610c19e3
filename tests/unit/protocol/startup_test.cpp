#include "protocol/startup.hpp"

#include "wire_check.hpp"

namespace weir::protocol::test {

namespace {

startup_message asked(std::uint16_t minor) {
    startup_message message;
    message.version.minor = minor;
    message.parameters = {{"user", "app"}, {"database", "db"}};
    return message;
}

}  // namespace

TEST_SUITE_BEGIN("protocol.startup");

TEST_CASE("the size of a first packet is bounded before it is kept") {
    struct {
        std::string wire;
        std::size_t size;
        error_code ec;
    } const cases[] = {
        {bytes("\0\0\0\x07"), 0, errc::bad_length},
        {bytes("\0\0\0\x08"), 8, {}},
        {bytes("\0\0\x27\x14"), 10004, {}},
        {bytes("\0\0\x27\x15"), 0, errc::bad_length},
        {bytes("\x7f\xff\xff\xff"), 0, errc::bad_length},
        {bytes("\xff\xff\xff\xff"), 0, errc::bad_length},
        {bytes("\0\0\0\0"), 0, errc::bad_length},
        {bytes("\0\0\0"), 0, errc::truncated},
        {bytes("GET "), 0, errc::bad_length},
    };

    for (const auto& c : cases) {
        CAPTURE(c.wire);
        const auto size = first_packet_size(exact(c.wire));
        CHECK((size ? *size : 0) == c.size);
        CHECK((size ? error_code{} : size.error()) == c.ec);
    }
}

TEST_CASE("SSLRequest and GSSENCRequest") {
    check_exact_and_back(ssl_request{}, bytes("\0\0\0\x08\x04\xd2\x16\x2f"), 4);
    check_every_cut<ssl_request>(bytes("\x04\xd2\x16\x2f"));
    CHECK(decode_error<ssl_request>(bytes("\x04\xd2\x16\x2fx")) == errc::trailing_bytes);
    check_message(gssenc_request{}, bytes("\0\0\0\x08\x04\xd2\x16\x30"), 4);
}

TEST_CASE("CancelRequest with keys of 4 to 256 bytes") {
    const auto key = bytes("\0\x01\x02\x03");
    const auto wire = bytes("\0\0\0\x10\x04\xd2\x16\x2e\0\0\x01\x02\0\x01\x02\x03");
    check_exact_and_back(cancel_request{258, key}, wire, 4);
    check_every_cut<cancel_request>(wire.substr(4));
    const std::string longest(256, 'k');
    check_exact_and_back(
        cancel_request{-1, longest},
        bytes("\0\0\x01\x0c\x04\xd2\x16\x2e\xff\xff\xff\xff") + longest,
        4
    );
    CHECK(
        decode_error<cancel_request>(bytes("\x04\xd2\x16\x2e\0\0\0\x01") + longest + "k") ==
        errc::bad_cancel_key
    );
}

TEST_CASE("StartupMessage ends at every other length in an error") {
    const auto wire = bytes("\0\0\0\x1e\0\x03\0\0user\0app\0database\0db\0\0");
    check_exact_and_back(asked(0), wire, 4);
    for (std::size_t size = 4; size + 4 < wire.size(); ++size) {
        CAPTURE(size);
        CHECK(decode_error<startup_message>(wire.substr(4, size)) == errc::bad_startup_layout);
    }
    CHECK(decode_error<startup_message>(wire.substr(4) + '\0') == errc::bad_startup_layout);
    CHECK(decode_error<startup_message>(wire.substr(4) + "x") == errc::bad_startup_layout);
    CHECK(decode_error<startup_message>(wire.substr(4, 3)) == errc::truncated);
}

TEST_CASE("user and database are found or take their defaults") {
    auto message = asked(0);
    CHECK(message.user() == "app");
    CHECK(message.database() == "db");
    message.parameters = {{"user", "app"}, {"user", "other"}, {"database", ""}};
    CHECK(message.user() == "other");
    CHECK(message.database() == "other");
    message.parameters.clear();
    CHECK(message.user().empty());
    const std::string longer(70, 'u');
    message.parameters = {{"user", longer}};
    CHECK(message.user().size() == 63);
    CHECK(message.database().size() == 63);
}

TEST_CASE("replication is wanted unless its value says no") {
    struct {
        const char* value;
        bool wanted;
    } const cases[] = {
        {"true", true},
        {"database", true},
        {"on", true},
        {"1", true},
        {"strange", true},
        {"o", true},
        {"false", false},
        {"F", false},
        {"no", false},
        {"of", false},
        {"0", false},
        {"OFF", false},
        {"falsey", true},
        {"", true}};

    for (const auto& c : cases) {
        CAPTURE(c.value);
        auto message = asked(0);
        message.parameters.emplace_back("replication", c.value);
        CHECK(message.wants_replication() == c.wanted);
    }
    CHECK_FALSE(asked(0).wants_replication());
}

TEST_CASE("the first packet is told by its code") {
    const auto decode = [](std::string_view body) {
        const auto raw = exact(body);
        const auto packet = decode_first_packet(raw);
        REQUIRE(packet.has_value());
        return packet->index();
    };
    CHECK(decode(bytes("\x04\xd2\x16\x2f")) == 0);
    CHECK(decode(bytes("\x04\xd2\x16\x30")) == 1);
    CHECK(
        decode(bytes("\x04\xd2\x16\x2e\0\0\0\x01"
                     "abcd")) == 2
    );
    CHECK(decode(bytes("\0\x03\0\0user\0a\0\0")) == 3);
    CHECK(decode(bytes("\0\x03\x27\x0fuser\0a\0\0")) == 3);
    for (const auto& other :
         {bytes("\0\x02\0\0anything"), bytes("\0\x04\0\0"), bytes("\x04\xd2\x16\x31")}) {
        CHECK(decode(other) == 4);
    }
    const auto old = exact(bytes("\0\x02\0\x01"));
    CHECK(
        std::get<unsupported_version>(*decode_first_packet(old)).version == protocol_version{2, 1}
    );
    CHECK(decode_first_packet(exact("abc")).error() == errc::truncated);
}

TEST_CASE("B52 newer minors are negotiated down and 3.1 does not exist") {
    struct {
        std::uint16_t minor, newest, outcome;
        bool needed;
    } const cases[] = {
        {0, 0, 0, false},
        {1, 0, 0, true},
        {2, 0, 0, true},
        {9999, 0, 0, true},
        {0, 2, 0, false},
        {1, 2, 0, true},
        {2, 2, 2, false},
        {3, 2, 2, true},
    };

    for (const auto& c : cases) {
        CAPTURE(c.minor);
        CAPTURE(c.newest);
        const auto outcome = negotiate(asked(c.minor), c.newest);
        CHECK(outcome.version == protocol_version{3, c.outcome});
        CHECK(outcome.needed == c.needed);
    }
}

TEST_CASE("F19 unknown protocol options are listed even when the version is known") {
    auto message = asked(0);
    message.parameters.emplace_back("_pq_.foo", "1");
    message.parameters.emplace_back("_pq_.", "2");
    message.parameters.emplace_back("_pq", "no option");
    const auto outcome = negotiate(message, 0);
    CHECK(outcome.needed);
    const auto wire = encoded([&](byte_writer& writer) { encode_negotiation(writer, outcome); });
    CHECK(wire == bytes("v\0\0\0\x1b\0\x03\0\0\0\0\0\x02_pq_.foo\0_pq_.\0"));
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
