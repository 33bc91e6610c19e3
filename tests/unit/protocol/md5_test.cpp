#include "protocol/md5.hpp"

#include "wire_check.hpp"

namespace weir::protocol::test {

TEST_SUITE_BEGIN("protocol.md5");

TEST_CASE("the stored form is PostgreSQL's") {
    // create role m login password 'geheim', with password_encryption = 'md5', on PostgreSQL 15
    CHECK(*make_md5_secret("geheim", "m") == "md56f033cd285da6a5b6b3b58f6308d8671");
    CHECK(*make_md5_secret("geheim", "ms") == "md5e0f68805790cd0ec5abc890e71b59467");
    CHECK(*make_md5_secret("", "") == "md5d41d8cd98f00b204e9800998ecf8427e");
}

TEST_CASE("the answer depends on the stored form and on all four bytes of salt") {
    const auto stored = *make_md5_secret("geheim", "m");
    CHECK(*md5_answer(stored, bytes("\x01\0\x03\xff")) == "md5cd14f42c9569bd77ad9fa80eb8379dbd");
    CHECK(
        *md5_answer(stored, bytes("\x01\0\x03\xff")) != *md5_answer(stored, bytes("\x01\0\x03\xfe"))
    );
}

TEST_CASE("an md5 secret is three letters and 32 lower-case digits") {
    CHECK(is_md5_secret("md56f033cd285da6a5b6b3b58f6308d8671"));
    for (const auto* text :
         {"",
          "md5",
          "md56f033cd285da6a5b6b3b58f6308d867",
          "md56f033cd285da6a5b6b3b58f6308d86711",
          "md56F033cd285da6a5b6b3b58f6308d8671",
          "MD56f033cd285da6a5b6b3b58f6308d8671",
          "md5gf033cd285da6a5b6b3b58f6308d8671"}) {
        CAPTURE(text);
        CHECK_FALSE(is_md5_secret(text));
    }
}

TEST_SUITE_END();

}  // namespace weir::protocol::test
