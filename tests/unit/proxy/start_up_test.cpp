#include "proxy/upstream/start_up.hpp"

#include "protocol/backend.hpp"
#include "protocol/startup.hpp"

#include <doctest/doctest.h>

#include <string>

namespace weir::proxy::upstream {
namespace {

using buffer = std::vector<std::uint8_t>;
using protocol::byte_span;

authenticator::options options() {
    authenticator::options made;
    made.user = "ann";
    made.secret = "pencil";
    made.nonce = "nonce";
    return made;
}

// A log-in in progress, and what it answers.
struct trial {
    scram_cache cache;
    start_up session{options(), cache};
    buffer out;

    template <class Message>
    std::optional<start_up::problem> receive(const Message& message) {
        buffer whole;
        protocol::byte_writer writer(whole);
        message.encode(writer);
        return session.on_message(static_cast<char>(whole[0]), byte_span(whole).subspan(5), out);
    }

    std::optional<start_up::problem> receive_error(protocol::sqlstate code) {
        protocol::diagnostic what;
        what.level = protocol::severity::fatal;
        what.code = code;
        what.message = "no";
        what.detail = "detail";
        what.hint = "hint";
        buffer whole;
        protocol::byte_writer writer(whole);
        protocol::backend::encode_error(writer, what);
        return session.on_message('E', byte_span(whole).subspan(5), out);
    }
};

const protocol::backend::authentication ok{};
const protocol::backend::ready_for_query idle{};

TEST_SUITE_BEGIN("proxy.start_up");

TEST_CASE("B58 the start-up message holds the user and the database and no settings") {
    trial t;
    t.session.begin("app", t.out);
    const auto packet = protocol::startup_message::decode(byte_span(t.out).subspan(4));
    REQUIRE(packet.has_value());
    CHECK(packet->version == protocol::protocol_version{.major = 3, .minor = 0});
    const std::vector<std::pair<std::string_view, std::string_view>> expected{
        {"user", "ann"},
        {"database", "app"}};
    CHECK(packet->parameters == expected);
}

TEST_CASE("what the server says is kept and the standby flag apart") {
    trial t;
    CHECK_FALSE(t.receive(ok));
    CHECK_FALSE(t.receive(protocol::backend::parameter_status{"TimeZone", "UTC"}));
    CHECK_FALSE(t.receive(protocol::backend::parameter_status{"in_hot_standby", "on"}));
    CHECK_FALSE(t.receive(protocol::backend::backend_key_data{-7, "secret"}));
    CHECK_FALSE(t.session.ready());
    CHECK_FALSE(t.receive(idle));
    CHECK(t.session.ready());
    CHECK(t.out.empty());
    const auto& said = t.session.said();
    CHECK(said.parameters == parameter_map{{"TimeZone", "UTC"}});
    CHECK(said.hot_standby);
    CHECK(said.pid == 0xFFFF'FFF9U);
    CHECK(std::string(said.key.begin(), said.key.end()) == "secret");
}

TEST_CASE("B71 an error behind AuthenticationOk is a refusal") {
    trial t;
    CHECK_FALSE(t.receive(ok));
    const auto refused = t.receive_error(protocol::sqlstates::invalid_catalog_name);
    REQUIRE(refused.has_value());
    CHECK(refused->ours.code == errc::server_refused);
    REQUIRE(refused->told.has_value());
    CHECK(refused->told->code == protocol::sqlstates::invalid_catalog_name);
    CHECK(refused->told->message == "no");
    CHECK(refused->told->detail == "detail");
    CHECK(refused->told->hint == "hint");
    CHECK_FALSE(t.session.ready());
    CHECK_FALSE(t.session.refused_by_rule());
}

TEST_CASE("only a refusal before any request may be one by the server's rules") {
    trial at_once;
    CHECK(at_once.receive_error(protocol::sqlstates::invalid_authorization).has_value());
    CHECK(at_once.session.refused_by_rule());
    trial busy;
    CHECK(busy.receive_error(protocol::sqlstates::too_many_connections).has_value());
    CHECK_FALSE(busy.session.refused_by_rule());
    trial later;
    CHECK_FALSE(later.receive(protocol::backend::authentication{
        .method = protocol::backend::authentication_kind::md5_password,
        .data = "salt"}));
    CHECK(later.receive_error(protocol::sqlstates::invalid_authorization).has_value());
    CHECK_FALSE(later.session.refused_by_rule());
}

TEST_CASE("nothing that belongs to a session is taken before AuthenticationOk") {
    trial t;
    for (const char type : {'S', 'K', 'Z', 'T', 'D', 'C', 'G', '1', '\0'}) {
        CAPTURE(type);
        const auto refused = t.session.on_message(type, {}, t.out);
        REQUIRE(refused.has_value());
        CHECK(refused->ours.code == errc::server_protocol);
        CHECK_FALSE(refused->told.has_value());
    }
    CHECK_FALSE(t.session.ready());
}

TEST_CASE("a session does not begin inside a transaction") {
    trial t;
    CHECK_FALSE(t.receive(ok));
    const auto refused = t.receive(protocol::backend::ready_for_query{
        protocol::backend::transaction_status::in_transaction});
    REQUIRE(refused.has_value());
    CHECK(refused->ours.code == errc::server_protocol);
    CHECK_FALSE(t.session.ready());
}

TEST_CASE("a malformed message breaks the protocol") {
    const std::uint8_t junk[] = {1};
    for (const char type : {'R', 'E', 'S', 'K', 'Z'}) {
        CAPTURE(type);
        trial t;
        CHECK_FALSE(t.receive(ok));
        const auto refused = t.session.on_message(type, junk, t.out);
        REQUIRE(refused.has_value());
        CHECK(refused->ours.code == errc::server_protocol);
    }
}

TEST_CASE("what is under way is said in words") {
    trial t;
    CHECK(std::string(t.session.doing()) == "starting up");
    CHECK_FALSE(t.receive(protocol::backend::authentication{
        .method = protocol::backend::authentication_kind::md5_password,
        .data = "salt"}));
    CHECK(std::string(t.session.doing()) == "authenticating");
    CHECK(t.out.size() > 5);
    CHECK_FALSE(t.receive(ok));
    CHECK(std::string(t.session.doing()) == "waiting for the server to become ready");
}

TEST_SUITE_END();

}  // namespace
}  // namespace weir::proxy::upstream
