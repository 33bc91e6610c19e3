#include "protocol/scram_client.hpp"

#include "protocol/base64.hpp"

#include "scram_check.hpp"

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.scram_client");

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

TEST_CASE("keys of another salt or count are refused before they are used") {
    scram_client client(client_nonce);
    REQUIRE(client.read_challenge("r=" + client_nonce + "x,s=c2FsdA==,i=2").has_value());
    auto other = client;
    CHECK(client.final_message(*derive_keys("pencil", "salt", 3)).error() == errc::secret_unusable);
    CHECK(other.final_message(*derive_keys("pencil", "tlas", 2)).error() == errc::secret_unusable);
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
