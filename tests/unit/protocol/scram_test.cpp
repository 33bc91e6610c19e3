#include "scram_check.hpp"
#include "wire_check.hpp"

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.scram");

TEST_CASE("both roles agree and the server learns the client key") {
    const auto options = known_user();
    const auto outcome = run_exchange(scram_client(client_nonce), scram_server(options), "pencil");
    CHECK(outcome.ec == error_code{});
    CHECK(outcome.client_key == derive_keys("pencil", options.verifier.salt, few)->client_key);
}

TEST_CASE("the client key learnt from a login is enough for another login with the same verifier") {
    const auto options = known_user();
    const auto learnt =
        run_exchange(scram_client(client_nonce), scram_server(options), "pencil").client_key;
    scram_client client("another");
    scram_server server(options);
    const auto server_first = server.first_message(client.first_message());
    REQUIRE(client.read_challenge(*server_first).has_value());
    const auto client_final =
        client.final_message({.verifier = options.verifier, .client_key = learnt});
    const auto server_final = server.final_message(*client_final);
    REQUIRE(server_final.has_value());
    CHECK(client.check_server(*server_final) == error_code{});
}

TEST_CASE("a wrong password and a mock exchange end alike") {
    auto options = known_user();
    const auto wrong = run_exchange(scram_client(client_nonce), scram_server(options), "pencils");
    CHECK(wrong.ec == errc::scram_bad_proof);
    CHECK(wrong.failed == 3);
    CHECK(wrong.client_key == sha256_digest{});
    options.genuine = false;  // even the right password
    const auto mock = run_exchange(scram_client(client_nonce), scram_server(options), "pencil");
    CHECK(mock.ec == errc::scram_bad_proof);
    CHECK(mock.failed == 3);
    options.verifier = *mock_verifier("ghost", exact("secret"), few);
    const auto ghost = run_exchange(scram_client(client_nonce), scram_server(options), "pencil");
    CHECK(ghost.ec == errc::scram_bad_proof);
    CHECK(ghost.messages[1].size() == mock.messages[1].size());
}

TEST_CASE("a change of any byte of any message ends the exchange in an error") {
    const auto options = known_user();
    const auto change = [&](std::size_t number, std::size_t at, int bit) {
        return run_exchange(
            scram_client(client_nonce),
            scram_server(options),
            "pencil",
            [&](std::size_t arriving, std::string& message) {
                if (arriving == number) {
                    message[at] = static_cast<char>(message[at] ^ bit);
                }
            }
        );
    };
    const auto sound = run_exchange(scram_client(client_nonce), scram_server(options), "pencil");
    REQUIRE(sound.failed == 0);
    for (std::size_t number = 1; number <= 4; ++number) {
        for (std::size_t at = 0; at < sound.messages[number - 1].size(); ++at) {
            for (const int bit : {1, 2, 4, 8, 16, 32, 64, 128}) {
                CAPTURE(number);
                CAPTURE(at);
                CAPTURE(bit);
                const auto outcome = change(number, at, bit);
                CHECK(outcome.ec.failed());
                CHECK(outcome.failed >= number);
            }
        }
    }
}

TEST_CASE("a message cut anywhere or with a byte more ends the exchange in an error") {
    const auto options = known_user();
    const auto replace = [&](std::size_t number, const std::string& by) {
        return run_exchange(
            scram_client(client_nonce),
            scram_server(options),
            "pencil",
            [&](std::size_t arriving, std::string& message) {
                if (arriving == number) {
                    message = by;
                }
            }
        );
    };
    const auto sound = run_exchange(scram_client(client_nonce), scram_server(options), "pencil");
    for (std::size_t number = 1; number <= 4; ++number) {
        const auto& whole = sound.messages[number - 1];
        CHECK(replace(number, whole + "x").ec.failed());
        for (std::size_t size = 0; size < whole.size(); ++size) {
            CAPTURE(number);
            CAPTURE(size);
            CHECK(replace(number, whole.substr(0, size)).ec.failed());
        }
    }
}

TEST_CASE("the server must prove itself") {
    const auto options = known_user();

    struct {
        const char* name;
        const char* message;
        error_code ec;
    } const cases[] = {
        {"wrong signature",
         "v=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
         errc::scram_bad_signature},
        {"short signature", "v=AAAA", errc::scram_bad_signature},
        {"empty signature", "v=", errc::scram_bad_signature},
        {"an error", "e=other-error", errc::scram_refused},
        {"nothing", "", errc::scram_malformed},
    };

    for (const auto& c : cases) {
        CAPTURE(c.name);
        const auto outcome = run_exchange(
            scram_client(client_nonce),
            scram_server(options),
            "pencil",
            [&](std::size_t number, std::string& message) {
                if (number == 4) {
                    message = c.message;
                }
            }
        );
        CHECK(outcome.ec == c.ec);
    }
}

TEST_CASE("messages out of order are refused and an error ends the exchange") {
    scram_client client(client_nonce);
    CHECK(client.check_server("v=AAAA") == errc::unexpected_message);
    CHECK(
        client.read_challenge("r=" + client_nonce + "x,s=c2FsdA==,i=1").error() ==
        errc::unexpected_message
    );
    scram_server server(known_user());
    CHECK(server.final_message("c=biws,r=x,p=y").error() == errc::unexpected_message);
    CHECK(server.first_message("n,,n=,r=abc").error() == errc::unexpected_message);
    auto twice = challenged(known_user());
    CHECK(twice.first_message("n,,n=,r=abc").error() == errc::unexpected_message);
}

TEST_CASE("channel binding is agreed on or refused") {
    using flag = scram_client_binding::flag;

    struct {
        const char* name;
        flag client;
        std::string client_data;
        bool offered;
        bool chosen;
        error_code ec;
    } const cases[] = {
        {"bound to the same certificate", flag::used, "hash", true, true, {}},
        {"bound to another certificate",
         flag::used,
         "hush",
         true,
         true,
         errc::scram_channel_binding},
        {"bound without the PLUS mechanism",
         flag::used,
         "hash",
         true,
         false,
         errc::scram_channel_binding},
        {"PLUS mechanism without binding",
         flag::unsupported,
         "",
         true,
         true,
         errc::scram_channel_binding},
        {"the offer was taken out on the way",
         flag::not_offered,
         "",
         true,
         false,
         errc::scram_channel_binding},
        {"client cannot bind", flag::unsupported, "", true, false, {}},
        {"nothing was offered", flag::not_offered, "", false, false, {}},
    };

    for (const auto& c : cases) {
        CAPTURE(c.name);
        auto options = known_user();
        options.plus_offered = c.offered;
        options.plus_chosen = c.chosen;
        options.binding_data = "hash";
        scram_client client(client_nonce, {.kind = c.client, .data = c.client_data});
        CHECK(run_exchange(client, scram_server(options), "pencil").ec == c.ec);
    }
    scram_server server([] {
        auto options = known_user();
        options.plus_offered = options.plus_chosen = true;
        return options;
    }());
    CHECK(server.first_message("p=tls-unique,,n=,r=abc").error() == errc::scram_channel_binding);
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
