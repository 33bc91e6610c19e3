#include "protocol/print.hpp"
#include "proxy/console/conversation.hpp"

#include <boost/asio/co_spawn.hpp>
#include <doctest/doctest.h>

#include <exception>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::proxy::console;
namespace backend = protocol::backend;
namespace frontend = protocol::frontend;

namespace {

using lines = std::vector<std::string>;

// A row as "Row a|b|NULL", an error with its text, everything else as protocol/print has it.
std::string readable(const protocol::frame_part& part) {
    const auto type = static_cast<char>(part.type);
    if (type == 'D') {
        std::string text = "Row ";
        protocol::byte_reader reader(part.body());
        for (auto left = reader.u16(); left != 0; --left) {
            const auto size = reader.i32();
            text += text.size() == 4 ? "" : "|";
            text += size < 0 ? "NULL" : std::string(reader.bytes(static_cast<std::size_t>(size)));
        }
        return text;
    }
    if (type == 'E') {
        const auto fields = backend::response_fields::decode(part.body());
        return std::string(fields->severity()) + " " + std::string(fields->code()) + " " +
               std::string(fields->message());
    }
    return protocol::print_backend(type, part.body());
}

answer canned(const std::string& command) {
    answer made;
    if (command == "RELOAD") {
        protocol::diagnostic why;
        why.code = "F0000";
        why.message = "wrong";
        return failed(why);
    }
    if (command == "SHOW HELP") {
        made.rows = {{"one", "1", "x"}, {"two", cell(), "y"}, {"three", "3", "z"}};
    }
    if (command == "SHOW VERSION") {
        made.rows = {{"pgweir 9"}};
    }
    return made;
}

// A client and what it is told.
class desk {
public:
    template <class Message>
    desk& send(const Message& message) {
        protocol::byte_writer writer(sent_);
        message.encode(writer);
        return *this;
    }

    desk& send(frontend::kind what) {
        protocol::byte_writer writer(sent_);
        frontend::encode_empty(writer, what);
        return *this;
    }

    desk& raw(std::vector<std::uint8_t> bytes) {
        sent_.insert(sent_.end(), bytes.begin(), bytes.end());
        return *this;
    }

    lines told() {
        protocol::frame_cutter cutter(protocol::side::frontend);
        protocol::bytes_view rest = sent_;
        while (open) {
            const auto part = cutter.next(rest);
            if (part.kind == protocol::part_kind::incomplete) {
                break;
            }
            take(part);
            rest = rest.subspan(part.bytes.size());
        }
        sent_.clear();
        return read_output();
    }

    bool open = true;
    lines ran;

private:
    void take(const protocol::frame_part& part) {
        io_.restart();
        proxy::asio::co_spawn(
            io_,
            talk_.take(part),
            [this](const std::exception_ptr& error, bool goes_on) {
                CHECK(error == nullptr);
                open = goes_on;
            }
        );
        io_.run();
    }

    lines read_output() {
        lines found;
        protocol::frame_cutter cutter(protocol::side::backend);
        protocol::bytes_view rest = talk_.output();
        while (!rest.empty()) {
            const auto part = cutter.next(rest);
            REQUIRE(part.kind == protocol::part_kind::whole);
            found.push_back(readable(part));
            rest = rest.subspan(part.bytes.size());
        }
        talk_.output().clear();
        return found;
    }

    proxy::asio::awaitable<answer> run(const call& what) {
        ran.emplace_back(what.what->words);
        co_return canned(ran.back());
    }

    proxy::asio::io_context io_{1};
    conversation talk_{[this](const call& what) { return run(what); }};
    std::vector<std::uint8_t> sent_;
};

frontend::parse parse_of(std::string_view name, std::string_view text) {
    return {.name = name, .text = text, .oids = {}};
}

using namespace std::string_view_literals;

constexpr auto no_formats = "\0\0\0\0\0\0"sv;
constexpr auto all_binary = "\0\0\0\0\0\1\0\1"sv;

frontend::bind
bind_of(std::string_view portal, std::string_view statement, std::string_view tail = no_formats) {
    return {.portal = portal, .statement = statement, .tail = tail};
}

}  // namespace

TEST_SUITE_BEGIN("proxy.console_conversation");

TEST_CASE("a simple query answers each of its commands and then is ready") {
    desk at;
    at.send(frontend::query{"show version; SHOW HELP"});
    CHECK(
        at.told() ==
        lines{
            "RowDescription count=1 28 bytes",
            "Row pgweir 9",
            "CommandComplete \"SHOW\"",
            "RowDescription count=3 84 bytes",
            "Row one|1|x",
            "Row two|NULL|y",
            "Row three|3|z",
            "CommandComplete \"SHOW\"",
            "ReadyForQuery idle"}
    );
    CHECK(at.ran == lines{"SHOW VERSION", "SHOW HELP"});
}

TEST_CASE("the first error ends a simple query") {
    desk at;
    at.send(frontend::query{"reload; show version"});
    CHECK(at.told() == lines{"ERROR F0000 wrong", "ReadyForQuery idle"});
    at.send(frontend::query{"show version; nonsense; reload"});
    const auto told = at.told();
    CHECK(told.size() == 5);
    CHECK(told[3] == "ERROR 42601 unknown console command \"nonsense\"");
    CHECK(at.ran == lines{"RELOAD", "SHOW VERSION"});
}

TEST_CASE("an empty query and a command without rows have their own answers") {
    desk at;
    at.send(frontend::query{" ; "}).send(frontend::query{"SET datestyle = ISO"});
    CHECK(
        at.told() ==
        lines{
            "EmptyQueryResponse",
            "ReadyForQuery idle",
            "CommandComplete \"SET\"",
            "ReadyForQuery idle"}
    );
}

TEST_CASE("the extended protocol prepares describes and executes") {
    desk at;
    at.send(parse_of("s", "show version"))
        .send(frontend::describe{frontend::object::statement, "s"});
    at.send(frontend::kind::flush);
    CHECK(
        at.told() ==
        lines{
            "ParseComplete",
            "ParameterDescription count=0 2 bytes",
            "RowDescription count=1 28 bytes"}
    );
    CHECK(at.ran.empty());
    at.send(bind_of("", "s")).send(frontend::describe{frontend::object::portal, ""});
    at.send(frontend::execute{"", 0}).send(frontend::kind::sync);
    CHECK(
        at.told() ==
        lines{
            "BindComplete",
            "RowDescription count=1 28 bytes",
            "Row pgweir 9",
            "CommandComplete \"SHOW\"",
            "ReadyForQuery idle"}
    );
    at.send(frontend::close{frontend::object::statement, "s"}).send(frontend::kind::sync);
    CHECK(at.told() == lines{"CloseComplete", "ReadyForQuery idle"});
    at.send(bind_of("", "s")).send(frontend::kind::sync);
    CHECK(
        at.told() ==
        lines{"ERROR 26000 prepared statement \"s\" does not exist", "ReadyForQuery idle"}
    );
}

TEST_CASE("a portal is suspended at the row limit and goes on from there") {
    desk at;
    at.send(parse_of("", "show help")).send(bind_of("p", ""));
    at.send(frontend::execute{"p", 2}).send(frontend::execute{"p", 2}).send(frontend::kind::sync);
    CHECK(
        at.told() ==
        lines{
            "ParseComplete",
            "BindComplete",
            "Row one|1|x",
            "Row two|NULL|y",
            "PortalSuspended",
            "Row three|3|z",
            "CommandComplete \"SHOW\"",
            "ReadyForQuery idle"}
    );
    CHECK(at.ran == lines{"SHOW HELP"});  // once
    at.send(frontend::execute{"p", 0}).send(frontend::kind::sync);
    CHECK(at.told().front() == "ERROR 34000 portal \"p\" does not exist");  // ended with Sync
}

TEST_CASE("a transaction keeps portals over Sync until it ends") {
    desk at;
    at.send(frontend::query{"begin"}).send(parse_of("", "show help")).send(bind_of("p", ""));
    at.send(frontend::execute{"p", 2}).send(frontend::kind::sync);
    CHECK(at.told().back() == "ReadyForQuery in transaction");
    at.send(frontend::execute{"p", 2}).send(frontend::kind::sync);
    CHECK(
        at.told() ==
        lines{"Row three|3|z", "CommandComplete \"SHOW\"", "ReadyForQuery in transaction"}
    );
    at.send(frontend::query{"reload"});
    CHECK(at.told() == lines{"ERROR F0000 wrong", "ReadyForQuery in transaction"});
    at.send(frontend::query{"rollback"});
    CHECK(at.told() == lines{"CommandComplete \"ROLLBACK\"", "ReadyForQuery idle"});
    at.send(frontend::execute{"p", 2}).send(frontend::kind::sync);
    CHECK(at.told().front() == "ERROR 34000 portal \"p\" does not exist");
}

TEST_CASE("after an error everything is ignored up to Sync") {
    desk at;
    at.send(parse_of("", "nonsense")).send(bind_of("", "")).send(frontend::execute{"", 0});
    at.send(frontend::query{"show version"}).send(frontend::kind::sync);
    at.send(frontend::query{"SET datestyle = ISO"});
    CHECK(
        at.told() ==
        lines{
            "ERROR 42601 unknown console command \"nonsense\"",
            "ReadyForQuery idle",
            "CommandComplete \"SET\"",
            "ReadyForQuery idle"}
    );
    CHECK(at.ran == lines{"SET"});
}

TEST_CASE("an error of the command itself also skips to Sync") {
    desk at;
    at.send(parse_of("", "reload")).send(bind_of("", "")).send(frontend::execute{"", 0});
    at.send(frontend::execute{"", 0}).send(frontend::kind::sync);
    CHECK(
        at.told() ==
        lines{"ParseComplete", "BindComplete", "ERROR F0000 wrong", "ReadyForQuery idle"}
    );
    CHECK(at.ran == lines{"RELOAD"});
}

TEST_CASE("what cannot be prepared or bound is refused") {
    struct refused {
        const char* name;
        std::string_view text;
        std::string_view tail;
        const char* error;
    };

    const refused cases[] = {
        {"two commands",
         "reload; reload",
         no_formats,
         "ERROR 42601 cannot insert multiple commands into a prepared statement"},
        {"open quote", "show 'a", no_formats, "ERROR 42601 unterminated quoted string"},
        {"a parameter",
         "show version",
         "\0\0\0\1\xff\xff\xff\xff\0\0"sv,
         "ERROR 08P01 the console's commands take no parameters, but 1 were bound"},
        {"formats",
         "show version",
         "\0\0\0\0\0\2\0\0\0\0"sv,
         "ERROR 08P01 Bind has 2 result formats, but the command has 1 columns"},
        {"format 2", "show version", "\0\0\0\0\0\1\0\2"sv, "ERROR 08P01 invalid Bind message"},
    };
    for (const auto& c : cases) {
        CAPTURE(c.name);
        desk at;
        at.send(parse_of("", c.text)).send(bind_of("", "", c.tail)).send(frontend::kind::sync);
        const auto told = at.told();
        REQUIRE(told.size() >= 2);
        CHECK(told[told.size() - 2] == c.error);
        CHECK(told.back() == "ReadyForQuery idle");
    }
    desk at;
    at.send(parse_of("s", "reload")).send(parse_of("s", "reload"));
    CHECK(at.told().back() == "ERROR 42P05 prepared statement \"s\" already exists");
}

TEST_CASE("an empty prepared statement has no columns and an empty answer") {
    desk at;
    at.send(parse_of("", "")).send(frontend::describe{frontend::object::statement, ""});
    at.send(bind_of("", "")).send(frontend::execute{"", 0});
    CHECK(
        at.told() ==
        lines{
            "ParseComplete",
            "ParameterDescription count=0 2 bytes",
            "NoData",
            "BindComplete",
            "EmptyQueryResponse"}
    );
}

TEST_CASE("a client may ask for binary results") {
    desk at;
    at.send(parse_of("", "show version")).send(bind_of("", "", all_binary));
    at.send(frontend::execute{"", 0});
    CHECK(at.told().back() == "CommandComplete \"SHOW\"");
}

TEST_CASE("Terminate ends the conversation without a word") {
    desk at;
    at.send(frontend::kind::terminate).send(frontend::query{"show version"});
    CHECK(at.told().empty());
    CHECK_FALSE(at.open);
}

TEST_CASE("a message of an unknown type ends it with FATAL") {
    desk at;
    at.raw({'?', 0, 0, 0, 4});
    CHECK(at.told() == lines{"FATAL 08P01 unexpected message type in the console"});
    CHECK_FALSE(at.open);
}

TEST_CASE("messages that do not decode are protocol violations") {
    desk at;
    at.raw({'Q', 0, 0, 0, 5, 'x'});
    CHECK(at.told() == lines{"ERROR 08P01 invalid Query message", "ReadyForQuery idle"});
    at.raw({'D', 0, 0, 0, 5, 'x'}).send(frontend::kind::sync);
    CHECK(at.told() == lines{"ERROR 08P01 invalid Describe message", "ReadyForQuery idle"});
}

TEST_CASE("the names of one client are limited") {
    desk at;
    for (std::size_t i = 0; i < conversation::named_max; ++i) {
        at.send(parse_of("s" + std::to_string(i), "reload"));
    }
    CHECK(at.told().back() == "ParseComplete");
    at.send(parse_of("more", "reload"));
    CHECK(at.told() == lines{"ERROR 54000 too many prepared statements"});
}

TEST_SUITE_END();
