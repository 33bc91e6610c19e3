#include "migration/fingerprint.hpp"

#include <doctest/doctest.h>

namespace weir::migration {

namespace {

plan sample() {
    plan what;
    what.schema = "public";
    what.table = "docs";
    what.embedding = "e";
    what.layout.key = {{"id", value_kind::integer, "bigint"}};
    what.layout.attributes = {{"org", value_kind::uuid, "uuid"}};
    what.layout.dimensions = 3;
    what.tenant = 0;
    what.name_of = {.before = "org-", .tenant = true, .after = ""};
    return what;
}

}  // namespace

TEST_SUITE_BEGIN("migration.fingerprint");

TEST_CASE("a fingerprint holds what shapes documents") {
    CHECK(
        fingerprint_of(sample(), "tpuf") ==
        R"({"table":"public.docs","key":"id integer","embedding":"e","dimensions":"3",)"
        R"("type":"vector","attributes":"org uuid","namespace":"org-{org}","metric":"cosine",)"
        R"("capture":"wal","store":"tpuf"})"
    );
}

TEST_CASE("what has changed is named") {
    const auto before = fingerprint_of(sample(), "tpuf");
    CHECK_FALSE(changed_since(before, sample(), "tpuf").has_value());
    CHECK_FALSE(changed_since("{}", sample(), "tpuf").has_value());
    auto now = sample();
    // A wider type of the same kind, another OID, and time-outs change no document.
    now.layout.key[0].type = "integer";
    now.table_oid = 7;
    now.max_retained_wal = 9;
    CHECK_FALSE(changed_since(before, now, "tpuf").has_value());
    now.layout.metric = store::metric::l2;
    now.layout.half = true;
    now.layout.dimensions = 4;
    CHECK(
        changed_since(before, now, "other") ==
        "dimensions: 3, now 4; type: vector, now halfvec; metric: cosine, now l2; store: tpuf, now "
        "other"
    );
    CHECK(
        changed_since(R"({"table": "public.docs"})", sample(), "tpuf")->starts_with("key: nothing")
    );
    CHECK(changed_since("[", sample(), "tpuf") == "the fingerprint in the journal cannot be read");
}

TEST_SUITE_END();

}  // namespace weir::migration
