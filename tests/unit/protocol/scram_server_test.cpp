#include "protocol/scram_server.hpp"

#include "protocol/base64.hpp"

#include "scram_check.hpp"

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.scram_server");

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

TEST_SUITE_END();

}  // namespace weir::protocol::test
