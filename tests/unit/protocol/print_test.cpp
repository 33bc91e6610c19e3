#include "protocol/print.hpp"

#include "wire_check.hpp"

namespace weir::protocol::test {

namespace {

struct printed {
    char type;
    std::string body;
    const char* line;
};

}  // namespace

TEST_SUITE_BEGIN("protocol.print");

TEST_CASE("messages of a client are one line without values") {
    const printed cases[] = {
        {'Q', bytes("select 'secret'\0"), "Query select 15 bytes"},
        {'Q', bytes("  ALTER USER a PASSWORD 'secret'\0"), "Query ALTER 32 bytes"},
        {'Q', bytes("\0"), "Query 0 bytes"},
        {'Q', bytes("'secret'\0"), "Query 8 bytes"},
        {'Q', bytes("thiswordislongerthananykeyword\0"), "Query 30 bytes"},
        {'Q', bytes("cut"), "Query malformed: text in a message is not terminated"},
        {'P',
         bytes("s1\0select $1\0\0\x01\0\0\0\x17"),
         "Parse statement=\"s1\" select 9 bytes types=1"},
        {'B',
         bytes("\0s1\0\0\0\0\x02\0\0\0\x06secret"),
         "Bind portal=\"\" statement=\"s1\" parameters=2"},
        {'B', bytes("\0s1\0\0"), "Bind portal=\"\" statement=\"s1\""},
        {'D', bytes("Ss1\0"), "Describe statement=\"s1\""},
        {'C', bytes("Pp\0"), "Close portal=\"p\""},
        {'E', bytes("\0\0\0\0\x05"), "Execute portal=\"\" max_rows=5"},
        {'F', bytes("\0\0\0\x07\0\0\0\x01\0\0\0\x06secret\0\0"), "FunctionCall function=7"},
        {'S', "", "Sync"},
        {'H', "", "Flush"},
        {'X', "", "Terminate"},
        {'d', "secret", "CopyData 6 bytes"},
        {'c', "", "CopyDone"},
        {'f', bytes("secret\0"), "CopyFail"},
        {'p', bytes("secret\0"), "Password 7 bytes"},
        {'\n', "x", "Unknown \"\\x0a\" 1 bytes"},
    };
    for (const auto& c : cases) {
        CAPTURE(c.line);
        CHECK(print_frontend(c.type, exact(c.body)) == c.line);
    }
}

TEST_CASE("messages of a server are one line without values") {
    const printed cases[] = {
        {'R', bytes("\0\0\0\0"), "Authentication ok"},
        {'R', bytes("\0\0\0\x0bsecret"), "Authentication sasl continue"},
        {'R',
         bytes("\0\0\0\x07"),
         "Authentication malformed: authentication method is not supported"},
        {'K',
         bytes("\0\0\x01\x02"
               "abcd"),
         "BackendKeyData pid=258"},
        {'S', bytes("TimeZone\0UTC\0"), "ParameterStatus TimeZone=\"UTC\""},
        {'Z', "I", "ReadyForQuery idle"},
        {'Z', "T", "ReadyForQuery in transaction"},
        {'Z', "E", "ReadyForQuery failed"},
        {'E',
         bytes("SERROR\0VERROR\0C22P02\0Mbad value \"secret\"\0Rpg_strtoint32\0\0"),
         "ErrorResponse 22P02 severity=\"ERROR\" routine=\"pg_strtoint32\""},
        {'N', bytes("SNOTICE\0C00000\0Msecret\0\0"), "NoticeResponse 00000 severity=\"NOTICE\""},
        {'C', bytes("INSERT 0 1\0"), "CommandComplete \"INSERT 0 1\""},
        {'A',
         bytes("\0\0\0\x07q\n\0secret\0"),
         "NotificationResponse pid=7 channel=\"q\\x0a\" 6 bytes"},
        {'D', bytes("\0\x01\0\0\0\x06secret"), "DataRow count=1 12 bytes"},
        {'T', bytes("\0\x02"), "RowDescription count=2 2 bytes"},
        {'t', bytes("\0\0"), "ParameterDescription count=0 2 bytes"},
        {'v', bytes("\0\x03\0\x02\0\0\0\0"), "NegotiateProtocolVersion 3.2 options=0"},
        {'1', "", "ParseComplete"},
        {'2', "", "BindComplete"},
        {'3', "", "CloseComplete"},
        {'n', "", "NoData"},
        {'s', "", "PortalSuspended"},
        {'I', "", "EmptyQueryResponse"},
        {'G', bytes("\0\0\0"), "CopyInResponse"},
        {'H', bytes("\0\0\0"), "CopyOutResponse"},
        {'W', bytes("\0\0\0"), "CopyBothResponse"},
        {'d', "secret", "CopyData 6 bytes"},
        {'c', "", "CopyDone"},
        {'V', "secret", "FunctionCallResponse 6 bytes"},
        {'?', "", "Unknown \"?\" 0 bytes"},
    };
    for (const auto& c : cases) {
        CAPTURE(c.line);
        CHECK(print_backend(c.type, exact(c.body)) == c.line);
    }
}

TEST_CASE("first packets show names but neither keys nor values") {
    const auto print = [](const std::string& body) { return print_first_packet(exact(body)); };
    CHECK(print(bytes("\x04\xd2\x16\x2f")) == "SSLRequest");
    CHECK(print(bytes("\x04\xd2\x16\x30")) == "GSSENCRequest");
    CHECK(
        print(bytes("\x04\xd2\x16\x2e\0\0\0\x01"
                    "abcd")) == "CancelRequest pid=1"
    );
    CHECK(
        print(bytes("\0\x03\0\0user\0app\0options\0-c app.key=secret\0\0")) ==
        "StartupMessage 3.0 user=\"app\" database=\"app\" \"options\""
    );
    CHECK(print(bytes("\0\x02\0\0x")) == "StartupMessage 2.0 unsupported");
    CHECK(print("abc") == "first packet malformed: message ends too early");
}

TEST_CASE("long names are cut") {
    const auto line = print_frontend('D', exact("S" + std::string(200, 'n') + '\0'));
    CHECK(line == "Describe statement=\"" + std::string(80, 'n') + "\"...");
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
