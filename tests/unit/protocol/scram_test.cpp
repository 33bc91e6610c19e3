#include "protocol/base64.hpp"
#include "protocol/scram_message.hpp"

#include "scram_check.hpp"
#include "wire_check.hpp"

using namespace weir::protocol;
using namespace weir::protocol::test;

namespace {

constexpr std::uint32_t few = 2;  // iterations, where the count does not matter

scram_server_options
known_user(std::string_view password = "pencil", std::uint32_t iterations = few) {
    scram_server_options options;
    options.verifier = derive_keys(password, "0123456789abcdef", iterations)->verifier;
    options.nonce = server_nonce;
    return options;
}

scram_server challenged(const scram_server_options& options) {
    scram_server server(options);
    REQUIRE(server.first_message("n,,n=,r=" + client_nonce).has_value());
    return server;
}

}  // namespace

TEST_SUITE_BEGIN("protocol.scram");

TEST_CASE("the example of RFC 7677 from the server's side") {
    scram_server_options options;
    options.verifier =
        derive_keys("pencil", *base64_decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096)->verifier;
    options.nonce = server_nonce;
    scram_server server(options);
    CHECK(
        *server.first_message("n,,n=user,r=rOprNGfwEbeRWgbNEkqO") ==
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    );
    CHECK(
        *server.final_message("c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
                              "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        ) == "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    );
}

TEST_CASE("a login at PostgreSQL 15 from the client's side") {
    scram_client client("vkKhU37g/XLO9V6NtEloeYuz");
    CHECK(client.first_message() == "n,,n=,r=vkKhU37g/XLO9V6NtEloeYuz");
    const auto challenge = client.read_challenge(
        "r=vkKhU37g/XLO9V6NtEloeYuztTSgLDd9NySxZGDN9gAdv9xL,s=MttBHZdKBIQgXoQeUUvVpw==,i=4096"
    );
    REQUIRE(challenge.has_value());
    CHECK(challenge->iterations == 4096);
    CHECK(base64_encode(as_bytes(challenge->salt)) == "MttBHZdKBIQgXoQeUUvVpw==");
    CHECK(
        *client.final_message(*derive_keys("pencil", challenge->salt, challenge->iterations)) ==
        "c=biws,r=vkKhU37g/XLO9V6NtEloeYuztTSgLDd9NySxZGDN9gAdv9xL,"
        "p=fQ6gFZDQxZEYtU9rMooB/3jpygE/9w9nDsUpKf0k4sE="
    );
    CHECK(client.check_server("v=gow3wE5rOQD5fWhzj8fAuY4zfHNmh3gt8sHWyrvZf4U=") == error_code{});
}

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
    const auto sound = run_exchange(scram_client(client_nonce), scram_server(options), "pencil");
    REQUIRE(sound.failed == 0);
    for (std::size_t number = 1; number <= 4; ++number) {
        for (std::size_t at = 0; at < sound.messages[number - 1].size(); ++at) {
            for (const int bit : {1, 2, 4, 8, 16, 32, 64, 128}) {
                CAPTURE(number);
                CAPTURE(at);
                CAPTURE(bit);
                const auto outcome = run_exchange(
                    scram_client(client_nonce),
                    scram_server(options),
                    "pencil",
                    [&](std::size_t arriving, std::string& message) {
                        if (arriving == number) {
                            message[at] = static_cast<char>(message[at] ^ bit);
                        }
                    }
                );
                CHECK(outcome.ec.failed());
                CHECK(outcome.failed >= number);
            }
        }
    }
}

TEST_CASE("a message cut anywhere or with a byte more ends the exchange in an error") {
    const auto options = known_user();
    const auto sound = run_exchange(scram_client(client_nonce), scram_server(options), "pencil");
    for (std::size_t number = 1; number <= 4; ++number) {
        const auto size = sound.messages[number - 1].size();
        for (std::size_t keep = 0; keep <= size; ++keep) {
            CAPTURE(number);
            CAPTURE(keep);
            const auto outcome = run_exchange(
                scram_client(client_nonce),
                scram_server(options),
                "pencil",
                [&](std::size_t arriving, std::string& message) {
                    if (arriving == number) {
                        message = keep == size ? message + "x" : message.substr(0, keep);
                    }
                }
            );
            CHECK(outcome.ec.failed());
        }
    }
}

TEST_CASE("the client's first message is checked") {
    struct {
        const char* name;
        std::string message;
        error_code ec;
    } const cases[] = {
        {"no support for binding", "n,,n=,r=abc", {}},
        {"could bind but was not offered", "y,,n=,r=abc", {}},
        {"a name does not matter", "n,,n=some=2Cbody,r=abc", {}},
        {"extensions are passed over", "n,,n=,r=abc,x=1,y=2", {}},
        {"longest", "n,,n=,r=" + std::string(scram_max_message - 8, 'r'), {}},
        {"too long", "n,,n=,r=" + std::string(scram_max_message - 7, 'r'), errc::scram_malformed},
        {"binding that was not offered",
         "p=tls-server-end-point,,n=,r=abc",
         errc::scram_channel_binding},
        {"unknown flag", "x,,n=,r=abc", errc::scram_malformed},
        {"flag too long", "nn,,n=,r=abc", errc::scram_malformed},
        {"authorization identity", "n,a=other,n=,r=abc", errc::scram_unsupported},
        {"something else in its place", "n,b=other,n=,r=abc", errc::scram_malformed},
        {"mandatory extension", "n,,m=x,n=,r=abc", errc::scram_unsupported},
        {"no name", "n,,r=abc", errc::scram_malformed},
        {"no nonce", "n,,n=", errc::scram_malformed},
        {"empty nonce", "n,,n=,r=", errc::scram_malformed},
        {"nonce with a space", "n,,n=,r=a c", errc::scram_malformed},
        {"nonce beyond ascii", "n,,n=,r=a\xc3\xa4", errc::scram_malformed},
        {"comma at the end", "n,,n=,r=abc,", errc::scram_malformed},
        {"extension without a name", "n,,n=,r=abc,=1", errc::scram_malformed},
        {"extension with a digit", "n,,n=,r=abc,1=1", errc::scram_malformed},
        {"header alone", "n,,", errc::scram_malformed},
        {"empty", "", errc::scram_malformed},
    };

    for (const auto& c : cases) {
        CAPTURE(c.name);
        scram_server server(known_user());
        const auto answer = server.first_message(c.message);
        CHECK((answer ? error_code{} : answer.error()) == c.ec);
    }
}

TEST_CASE("the client's final message is checked") {
    const auto nonce = client_nonce + server_nonce;
    const std::string proof(43, 'A');

    struct {
        const char* name;
        std::string message;
        error_code ec;
    } const cases[] = {
        {"a proof that is wrong", "c=biws,r=" + nonce + ",p=" + proof + "=", errc::scram_bad_proof},
        {"an extension before it",
         "c=biws,r=" + nonce + ",x=1,p=" + proof + "=",
         errc::scram_bad_proof},
        {"other flag than before",
         "c=eSws,r=" + nonce + ",p=" + proof + "=",
         errc::scram_channel_binding},
        {"only the client's nonce",
         "c=biws,r=" + client_nonce + ",p=" + proof + "=",
         errc::scram_nonce_mismatch},
        {"nonce of somebody else",
         "c=biws,r=x" + nonce + ",p=" + proof + "=",
         errc::scram_nonce_mismatch},
        {"no nonce", "c=biws,p=" + proof + "=", errc::scram_malformed},
        {"no proof", "c=biws,r=" + nonce, errc::scram_malformed},
        {"proof too short", "c=biws,r=" + nonce + ",p=AAAA", errc::scram_malformed},
        {"proof not base64", "c=biws,r=" + nonce + ",p=" + proof, errc::scram_malformed},
        {"something behind the proof",
         "c=biws,r=" + nonce + ",p=" + proof + "=,x=1",
         errc::scram_malformed},
        {"too long",
         "c=biws,r=" + nonce + ",x=" + std::string(scram_max_message, 'x') + ",p=" + proof + "=",
         errc::scram_malformed},
    };

    for (const auto& c : cases) {
        CAPTURE(c.name);
        auto server = challenged(known_user());
        const auto answer = server.final_message(c.message);
        REQUIRE(answer.has_error());
        CHECK(answer.error() == c.ec);
    }
}

TEST_CASE("the server's challenge is checked") {
    struct {
        const char* name;
        std::string message;
        error_code ec;
    } const cases[] = {
        {"sound", "r=" + client_nonce + "x,s=c2FsdA==,i=1", {}},
        {"most iterations", "r=" + client_nonce + "x,s=c2FsdA==,i=1000000", {}},
        {"an extension behind", "r=" + client_nonce + "x,s=c2FsdA==,i=1,x=y", {}},
        {"too many iterations",
         "r=" + client_nonce + "x,s=c2FsdA==,i=1000001",
         errc::scram_iterations},
        {"far too many iterations",
         "r=" + client_nonce + "x,s=c2FsdA==,i=99999999999999999999",
         errc::scram_iterations},
        {"no iterations", "r=" + client_nonce + "x,s=c2FsdA==,i=0", errc::scram_iterations},
        {"negative iterations", "r=" + client_nonce + "x,s=c2FsdA==,i=-1", errc::scram_malformed},
        {"iterations with a letter",
         "r=" + client_nonce + "x,s=c2FsdA==,i=1a",
         errc::scram_malformed},
        {"server added nothing",
         "r=" + client_nonce + ",s=c2FsdA==,i=1",
         errc::scram_nonce_mismatch},
        {"nonce of somebody else",
         "r=x" + client_nonce + ",s=c2FsdA==,i=1",
         errc::scram_nonce_mismatch},
        {"empty salt", "r=" + client_nonce + "x,s=,i=1", errc::scram_malformed},
        {"salt not base64", "r=" + client_nonce + "x,s=c2FsdA=,i=1", errc::scram_malformed},
        {"mandatory extension",
         "m=x,r=" + client_nonce + "x,s=c2FsdA==,i=1",
         errc::scram_unsupported},
        {"comma at the end", "r=" + client_nonce + "x,s=c2FsdA==,i=1,", errc::scram_malformed},
        {"too long",
         "r=" + client_nonce + std::string(scram_max_message, 'x') + ",s=c2FsdA==,i=1",
         errc::scram_malformed},
        {"empty", "", errc::scram_malformed},
    };

    for (const auto& c : cases) {
        CAPTURE(c.name);
        scram_client client(client_nonce);
        const auto challenge = client.read_challenge(c.message);
        CHECK((challenge ? error_code{} : challenge.error()) == c.ec);
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

TEST_CASE("keys of another salt or count are refused before they are used") {
    scram_client client(client_nonce);
    REQUIRE(client.read_challenge("r=" + client_nonce + "x,s=c2FsdA==,i=2").has_value());
    auto other = client;
    CHECK(client.final_message(*derive_keys("pencil", "salt", 3)).error() == errc::secret_unusable);
    CHECK(other.final_message(*derive_keys("pencil", "tlas", 2)).error() == errc::secret_unusable);
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
