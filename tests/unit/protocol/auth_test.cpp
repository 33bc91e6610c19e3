#include "protocol/auth.hpp"

#include "wire_check.hpp"

namespace weir::protocol::test {

namespace {

const std::string stored_scram = derive_keys("geheim", "salt", 2)->verifier.text();
const std::string stored_md5 = "md56f033cd285da6a5b6b3b58f6308d8671";  // "geheim" of user m

}  // namespace

TEST_SUITE_BEGIN("protocol.auth");

TEST_CASE("a secret is told by its form") {
    CHECK(secret::parse("")->kind() == secret::form::none);
    CHECK(secret::parse("geheim")->kind() == secret::form::plain);
    CHECK(secret::parse(stored_md5)->kind() == secret::form::md5);
    CHECK(secret::parse(stored_scram)->kind() == secret::form::scram);
    CHECK(secret::parse("md5geheim")->kind() == secret::form::plain);
    CHECK(secret::parse("SCRAM-SHA-1$x")->kind() == secret::form::plain);
    CHECK(secret::parse("SCRAM-SHA-256$4096:broken").error() == errc::bad_verifier);
}

TEST_CASE("B65 what each form can do is known before a login begins") {
    using method = login_method;

    struct {
        std::string text;
        bool check_cleartext, check_md5, check_scram;
        bool answer_cleartext, answer_md5, answer_scram;
    } const cases[] = {
        {"", false, false, false, false, false, false},
        {"geheim", true, true, true, true, true, true},
        {stored_md5, true, true, false, false, true, false},
        {stored_scram, true, false, true, false, false, false},
    };

    for (const auto& c : cases) {
        CAPTURE(c.text);
        const auto known = *secret::parse(c.text);
        CHECK(known.can_check(method::cleartext) == c.check_cleartext);
        CHECK(known.can_check(method::md5) == c.check_md5);
        CHECK(known.can_check(method::scram_sha_256) == c.check_scram);
        CHECK(known.can_answer(method::cleartext) == c.answer_cleartext);
        CHECK(known.can_answer(method::md5) == c.answer_md5);
        CHECK(known.can_answer(method::scram_sha_256) == c.answer_scram);
        CHECK(
            (known.check_cleartext("m", "geheim") == errc::secret_unusable) == !c.check_cleartext
        );
        CHECK((known.check_md5("m", "salt", "x") == errc::secret_unusable) == !c.check_md5);
        CHECK(known.cleartext_answer().has_value() == c.answer_cleartext);
        CHECK(known.md5_answer("m", "salt").has_value() == c.answer_md5);
        CHECK(known.keys("salt", 2).has_value() == c.answer_scram);
    }
}

TEST_CASE("B68 a clear-text password is checked against every form") {
    for (const auto& text : {std::string("geheim"), stored_md5, stored_scram}) {
        CAPTURE(text);
        const auto known = *secret::parse(text);
        CHECK(known.check_cleartext("m", "geheim") == error_code{});
        for (const auto* wrong : {"", "gehein", "geheim ", "Geheim"}) {
            CHECK(known.check_cleartext("m", wrong) == errc::wrong_password);
        }
    }
    CHECK(secret::parse(stored_md5)->check_cleartext("other", "geheim") == errc::wrong_password);
    CHECK(secret().check_cleartext("m", "") == errc::secret_unusable);
}

TEST_CASE("an md5 login works from the password and from its stored form") {
    const auto plain = *secret::parse("geheim");
    const auto stored = *secret::parse(stored_md5);
    const auto answer = *plain.md5_answer("m", "abcd");
    CHECK(*stored.md5_answer("m", "abcd") == answer);
    for (const auto& known : {plain, stored}) {
        CHECK(known.check_md5("m", "abcd", answer) == error_code{});
        CHECK(known.check_md5("m", "abce", answer) == errc::wrong_password);
        CHECK(known.check_md5("m", "abcd", "") == errc::wrong_password);
        CHECK(known.check_md5("m", "abcd", answer + "0") == errc::wrong_password);
        CHECK(known.check_md5("m", "abcd", stored_md5) == errc::wrong_password);
    }
    CHECK(plain.check_md5("other", "abcd", answer) == errc::wrong_password);
}

TEST_CASE("a plain password gives the keys of its verifier") {
    CHECK(secret::parse("geheim")->keys("salt", 2)->verifier.text() == stored_scram);
    CHECK(secret::parse(stored_scram)->verifier()->text() == stored_scram);
    CHECK_FALSE(secret::parse("geheim")->verifier().has_value());
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
