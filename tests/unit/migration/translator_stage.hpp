// A translator with a small table, fed with messages one by one.
#pragma once

#include "migration/capture/translator.hpp"
#include "migration/vector_codec.hpp"
#include "tests/unit/migration/pgoutput_bytes.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::migration::test {

inline constexpr std::uint32_t table = 500;
inline constexpr std::uint32_t vector_oid = 16'500;
inline constexpr std::uint32_t halfvec_oid = 16'501;

inline plan small_plan() {
    plan made;
    made.name = "items";
    made.schema = "public";
    made.table = "items";
    made.table_oid = table;
    made.embedding = "e";
    made.layout.key = {{.name = "id", .kind = value_kind::integer, .type = "integer"}};
    made.layout.attributes = {
        {.name = "org", .kind = value_kind::integer, .type = "integer"},
        {.name = "body", .kind = value_kind::text, .type = "text"}};
    made.layout.dimensions = 2;
    made.tenant = 0;
    return made;
}

inline std::vector<sent_column> columns(bool tenant_in_identity = false, bool full = false) {
    return {
        {"id", 23, -1, true},
        {"org", 23, -1, tenant_in_identity || full},
        {"extra", 25, -1, full},
        {"body", 25, -1, full},
        {"e", vector_oid, 2, full}};
}

inline sent_field vector_field(std::vector<float> numbers) {
    std::string bytes;
    append_vector(bytes, numbers);
    return binary(bytes);
}

inline sent_field number(char low) {
    return binary(std::string("\0\0\0", 3) + low);
}

inline value integer(std::int64_t what) {
    return what;
}

// A translator in a transaction of final LSN 100 that knows the types and the table.
struct stage {
    explicit stage(
        plan what = small_plan(),
        const std::vector<sent_column>& as = columns(),
        translator::membership ask = {}
    )
        : settled(std::move(what)), under_test(settled, 3, std::move(ask)) {
        feed(begin(100, 700));
        feed(type(vector_oid, "public", "vector"));
        feed(type(halfvec_oid, "extensions", "halfvec"));
        feed(relation(table, as));
    }

    // The changes of one message. Its error fails the test.
    std::vector<change> feed(const sent& bytes) {
        std::vector<change> made;
        const auto error = feed_for_error(bytes, made);
        CHECK_MESSAGE(!error, *error);
        return made;
    }

    std::optional<std::string> error_of(const sent& bytes) {
        std::vector<change> made;
        return feed_for_error(bytes, made);
    }

    template <class What>
    What only(const sent& bytes) {
        auto made = feed(bytes);
        REQUIRE(made.size() == 1);
        auto* what = std::get_if<What>(&made.front().what);
        REQUIRE(what != nullptr);
        return std::move(*what);
    }

    plan settled;
    translator under_test;

private:
    std::optional<std::string> feed_for_error(const sent& bytes, std::vector<change>& made) {
        const auto message = pgoutput::decode(bytes);
        REQUIRE(message.has_value());
        return under_test.feed(*message, made);
    }
};

inline const auto row_one =
    sent_tuple{number(1), number(17), text("ignored"), text("hello"), vector_field({1, 2})};

}  // namespace weir::migration::test
