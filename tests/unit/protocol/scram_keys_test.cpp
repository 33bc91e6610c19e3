#include "protocol/scram_keys.hpp"

#include "wire_check.hpp"

namespace weir::protocol::test {

namespace {

// Made by PostgreSQL 15: create role a login password 'pencil'
const std::string stored =
    "SCRAM-SHA-256$4096:MttBHZdKBIQgXoQeUUvVpw==$dfKwMQnAlTgvWOApqF4DwJZsrk77h5hzx8cUWnWs94Y="
    ":lEKZfLEOMmu2FXxtDugh8Nzs1xlTHN2LV/akU84IQ0k=";

}  // namespace

TEST_SUITE_BEGIN("protocol.scram_keys");

TEST_CASE("a verifier that PostgreSQL made is read and written and its password gives the same") {
    const auto verifier = scram_verifier::parse(stored);
    REQUIRE(verifier.has_value());
    CHECK(verifier->iterations == 4096);
    CHECK(verifier->salt.size() == 16);
    CHECK(verifier->text() == stored);
    const auto keys = derive_keys("pencil", verifier->salt, verifier->iterations);
    REQUIRE(keys.has_value());
    CHECK(keys->verifier == *verifier);
    CHECK(derive_keys("pencils", verifier->salt, verifier->iterations)->verifier != *verifier);
}

TEST_CASE("B70 passwords of every alphabet give what PostgreSQL stored") {
    struct {
        const char* password;
        const char* verifier;
    } const cases[] = {
        {"p%41ss+w*o$r(d)&@:/?#[]'\"\\ p\u00e4ssw\u00f6rd",
         "SCRAM-SHA-256$4096:WusfnZw4QW8qfPDCf/GyCQ==$1Z23ViiutqwB1fJZL8z9LFf+o/xrM+U9IgDJ0cjRAIw=:"
         "wyXyyKC6JUMzWASSIfqobE/9sW6dVS1aQs7df5tsNYc="},
        {"a\u0308\u00bd\ufb01\u00a0x\u00ad",
         "SCRAM-SHA-256$4096:8MbiIsyMXjSyBDPKG3zb2w==$RKavtOPdfhveCm1Err0tcWMqRmY5Njn4Kb8P+UPhYro=:"
         "UONBc0fwuSvlCUuafuj2xb6SbddsZwfVpB3W2Aa7AGg="},
        {"\u06271",
         "SCRAM-SHA-256$4096:U0EMbivS+Ne8puwATMptyg==$oJECZu0t2IileVhIm/BTU15Ej1Cyfzmqhc0MmBPgu8Y=:"
         "/BFb5CzXKNhL/bRMG53QFZ7RoMQUugt6GV+F6CqYHIc="},
        {"\a\u00e4",
         "SCRAM-SHA-256$4096:9kBGMqZAZ6LY9nfi2jXMNA==$Adkx6XAOqTlOa8lEGV+vGveOUgtFOkm8F1OoNWH2+ls=:"
         "VfezQK9DcZexf+SshXXf5nCCzRpJvX+CMUAqHnv9owg="},
    };

    for (const auto& c : cases) {
        CAPTURE(c.password);
        const auto verifier = scram_verifier::parse(c.verifier);
        REQUIRE(verifier.has_value());
        CHECK(derive_keys(c.password, verifier->salt, 4096)->verifier.text() == c.verifier);
    }
}

TEST_CASE("a verifier cut anywhere or with one byte more is refused") {
    for (std::size_t size = 0; size < stored.size(); ++size) {
        CAPTURE(size);
        CHECK(scram_verifier::parse(stored.substr(0, size)).error() == errc::bad_verifier);
    }
    for (const char more : {'=', 'A', ':', '$', ' ', '\0'}) {
        CHECK(scram_verifier::parse(stored + more).error() == errc::bad_verifier);
    }
}

TEST_CASE("a verifier with impossible parts is refused") {
    const std::string keys =
        "$dfKwMQnAlTgvWOApqF4DwJZsrk77h5hzx8cUWnWs94Y=:lEKZfLEOMmu2FXxtDugh8Nzs1xlTHN2LV/"
        "akU84IQ0k=";
    for (const auto* head :
         {"SCRAM-SHA-256$0:MttB",
          "SCRAM-SHA-256$-1:MttB",
          "SCRAM-SHA-256$ 1:MttB",
          "SCRAM-SHA-256$+1:MttB",
          "SCRAM-SHA-256$1x:MttB",
          "SCRAM-SHA-256$:MttB",
          "SCRAM-SHA-256$1000001:MttB",
          "SCRAM-SHA-256$99999999999:MttB",
          "SCRAM-SHA-256$1:",
          "SCRAM-SHA-256$1:Mtt",
          "SCRAM-SHA-1$1:MttB",
          "scram-sha-256$1:MttB"}) {
        CAPTURE(head);
        CHECK(scram_verifier::parse(head + keys).error() == errc::bad_verifier);
    }
    CHECK(scram_verifier::parse("SCRAM-SHA-256$1:MttB" + keys).has_value());
    CHECK(scram_verifier::parse("SCRAM-SHA-256$1:MttB$MttB:MttB").error() == errc::bad_verifier);
}

TEST_CASE("derivation has bounds") {
    CHECK(derive_keys("x", "salt", 0).error() == errc::scram_iterations);
    CHECK(derive_keys("x", "salt", scram_max_iterations + 1).error() == errc::scram_iterations);
    CHECK(derive_keys("x", "", 1).error() == errc::scram_malformed);
    CHECK(
        derive_keys("x", std::string(scram_max_salt + 1, 's'), 1).error() == errc::scram_malformed
    );
    CHECK(derive_keys("", std::string(scram_max_salt, 's'), 1).has_value());
}

TEST_CASE("a mock verifier is the same for the same name and secret only") {
    const auto secret = exact("process secret");
    const auto first = mock_verifier("ghost", secret);
    REQUIRE(first.has_value());
    CHECK(first->salt.size() == 16);
    CHECK(first->iterations == 4096);
    CHECK(*mock_verifier("ghost", secret) == *first);
    CHECK(mock_verifier("host", secret)->salt != first->salt);
    CHECK(mock_verifier("ghost", exact("another"))->salt != first->salt);
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
