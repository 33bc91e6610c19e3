#include "migration/value_codec.hpp"

#include "migration/numeric_codec.hpp"
#include "migration/time_codec.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <random>
#include <string>

namespace weir::migration {
namespace {

template <std::size_t Size>
std::string bytes(const char (&literal)[Size]) {
    return std::string(literal, Size - 1);
}

struct both_forms {
    value_kind kind;
    std::uint32_t type;
    std::string binary;
    std::string text;
    value is;
};

constexpr std::int64_t noon_2024 = 1'709'209'696'789'000;  // 2024-02-29 12:28:16.789

// Binary and text as PostgreSQL 15 writes them.
std::vector<both_forms> samples() {
    using kind = value_kind;
    const auto int64 = [](std::int64_t number) { return value(number); };
    return {
        {kind::boolean, 16, bytes("\1"), "t", true},
        {kind::boolean, 16, bytes("\0"), "f", false},
        {kind::integer, 21, bytes("\xff\xfe"), "-2", int64(-2)},
        {kind::integer, 23, bytes("\0\1\0\0"), "65536", int64(65536)},
        {kind::integer,
         20,
         bytes("\x80\0\0\0\0\0\0\0"),
         "-9223372036854775808",
         int64(std::numeric_limits<std::int64_t>::min())},
        {kind::real, 700, bytes("\x3d\xcc\xcc\xcd"), "0.1", static_cast<double>(0.1F)},
        {kind::real, 701, bytes("\x3f\xb9\x99\x99\x99\x99\x99\x9a"), "0.1", 0.1},
        {kind::real,
         701,
         bytes("\xff\xf0\0\0\0\0\0\0"),
         "-Infinity",
         -std::numeric_limits<double>::infinity()},
        {kind::numeric, 1700, bytes("\0\2\0\0\x40\0\0\3\0\xc\xd\x48"), "-12.340", "-12.340"},
        {kind::text, 25, "a,\"b", "a,\"b", "a,\"b"},
        {kind::text, 1042, "ab   ", "ab   ", "ab   "},
        {kind::text, 25, "", "", ""},
    };
}

std::vector<both_forms> longer_samples() {
    using kind = value_kind;
    const auto int64 = [](std::int64_t number) { return value(number); };
    return {
        {kind::uuid,
         2950,
         bytes("\xa0\xee\xbc\x99\x9c\xb\x4e\xf8\xbb\x6d\x6b\xb9\xbd\x38\xa\x11"),
         "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
         "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
        {kind::timestamp,
         1114,
         bytes("\0\2\xb5\x83\x29\x9b\2\x08"),
         "2024-02-29 12:28:16.789",
         int64(noon_2024)},
        {kind::timestamp,
         1184,
         bytes("\0\2\xb5\x83\x29\x9b\2\x08"),
         "2024-02-29 17:58:16.789+05:30",
         int64(noon_2024)},
        {kind::timestamp,
         1184,
         bytes("\0\0\0\0\0\0\0\0"),
         "2000-01-01 00:00:00+00",
         int64(946'684'800'000'000)},
        {kind::timestamp,
         1184,
         bytes("\x7f\xff\xff\xff\xff\xff\xff\xff"),
         "infinity",
         int64(time_infinity)},
        {kind::timestamp,
         1114,
         bytes("\x80\0\0\0\0\0\0\0"),
         "-infinity",
         int64(time_minus_infinity)},
        {kind::date, 1082, bytes("\0\0\x22\x79"), "2024-02-29", int64(1'709'164'800'000'000)},
        {kind::date, 1082, bytes("\x7f\xff\xff\xff"), "infinity", int64(time_infinity)},
        {kind::date, 1082, bytes("\x80\0\0\0"), "-infinity", int64(time_minus_infinity)},
        {kind::json, 114, R"( {"a": 1})", R"( {"a": 1})", R"( {"a": 1})"},
        {kind::json,
         3802,
         "\1"
         R"({"a": 1})",
         R"({"a": 1})",
         R"({"a": 1})"},
    };
}

std::vector<both_forms> all_samples() {
    auto all = samples();
    for (auto& each : longer_samples()) {
        all.push_back(std::move(each));
    }
    return all;
}

}  // namespace

TEST_SUITE_BEGIN("migration.value_codec");

TEST_CASE("the binary and the text form of a value are the same") {
    for (const auto& sample : all_samples()) {
        CAPTURE(sample.text);
        const auto binary =
            read_value(sample.kind, sample.type, value_format::binary, sample.binary);
        REQUIRE(binary.has_value());
        CHECK((*binary == sample.is));
        const auto text = read_value(sample.kind, sample.type, value_format::text, sample.text);
        REQUIRE(text.has_value());
        CHECK((*text == sample.is));
    }
}

TEST_CASE("a value's parameter text is read back as the value") {
    for (const auto& sample : all_samples()) {
        CAPTURE(sample.text);
        const auto text = parameter_text(sample.kind, sample.is);
        REQUIRE(text.has_value());
        const auto again = read_value(sample.kind, 0, value_format::text, *text);
        REQUIRE(again.has_value());
        CHECK((*again == sample.is));
    }
    CHECK_FALSE(parameter_text(value_kind::text, value()).has_value());
}

TEST_CASE("binary values of a wrong length are errors") {
    for (const auto& sample : all_samples()) {
        if (sample.kind == value_kind::text || sample.kind == value_kind::json) {
            continue;
        }
        CAPTURE(sample.text);
        CHECK(read_value(sample.kind, sample.type, value_format::binary, "").has_error());
        CHECK(read_value(sample.kind, sample.type, value_format::binary, sample.binary + "x")
                  .has_error());
    }
}

TEST_CASE("texts that are not of the type's form are errors") {
    const auto refuses = [](value_kind kind, std::string_view text) {
        CAPTURE(text);
        CHECK(read_value(kind, 0, value_format::text, text).has_error());
    };
    refuses(value_kind::boolean, "y");
    refuses(value_kind::integer, "12a");
    refuses(value_kind::integer, "9223372036854775808");
    refuses(value_kind::real, "1e");
    refuses(value_kind::uuid, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1");
    refuses(value_kind::timestamp, "2024-02-29 12:28");
    refuses(value_kind::timestamp, "2024-13-01 00:00:00");
    refuses(value_kind::timestamp, "2024-02-29T12:28:16");
    refuses(value_kind::date, "02/29/2024");
}

TEST_CASE("numeric's binary form becomes PostgreSQL's text") {
    struct sample {
        std::string binary;
        const char* text;
    };

    const std::vector<sample> all = {
        {bytes("\0\0\0\0\0\0\0\0"), "0"},
        {bytes("\0\0\0\0\0\0\0\2"), "0.00"},
        {bytes("\0\1\0\0\0\0\0\0\0\7"), "7"},
        {bytes("\0\1\0\1\0\0\0\0\0\1"), "10000"},
        {bytes("\0\2\0\1\0\0\0\0\0\x7b\0\5"), "1230005"},
        {bytes("\0\1\xff\xff\0\0\0\4\0\1"), "0.0001"},
        {bytes("\0\1\xff\xfe\x40\0\0\6\0\x64"), "-0.000001"},
        {bytes("\0\2\0\0\0\0\0\5\0\1\x26\xac"), "1.99000"},
        {bytes("\0\0\0\0\xc0\0\0\0"), "NaN"},
        {bytes("\0\0\0\0\xd0\0\0\0"), "Infinity"},
        {bytes("\0\0\0\0\xf0\0\0\0"), "-Infinity"},
    };
    for (const auto& each : all) {
        CAPTURE(each.text);
        const auto read = read_numeric(each.binary);
        REQUIRE(read.has_value());
        CHECK(*read == each.text);
    }
    CHECK(read_numeric(bytes("\0\1\0\0\0\0\0\0")).error() == codec_fault::bad_length);
    CHECK(read_numeric(bytes("\xff\xff\0\0\0\0\0\0\0\1")).error() == codec_fault::bad_length);
    CHECK(read_numeric(bytes("\0\1\0\0\0\0\0\0\x27\x10")).error() == codec_fault::bad_value);
    CHECK(read_numeric(bytes("\0\0\0\0\x12\0\0\0")).error() == codec_fault::bad_value);
    CHECK(read_numeric(bytes("\0\0\0\0\0\0\x40\0")).error() == codec_fault::bad_value);
}

TEST_CASE("dates before Christ and far years are written and read") {
    CHECK(*read_time("0044-03-15 BC") == -63'517'824'000'000'000);
    CHECK(date_text(-63'517'824'000'000'000) == "0044-03-15 BC");
    CHECK(timestamp_text(-63'517'824'000'000'000 + 1) == "0044-03-15 00:00:00.000001+00 BC");
    CHECK(*read_time("0044-03-15 00:00:00.000001+00 BC") == -63'517'824'000'000'000 + 1);
    CHECK(*read_time("1969-12-31 23:59:59.5") == -500'000);
    CHECK(timestamp_text(-500'000) == "1969-12-31 23:59:59.500000+00");
    CHECK(*read_time("12024-02-29") == 317'278'684'800'000'000);
    CHECK(date_text(317'278'684'800'000'000) == "12024-02-29");
    CHECK(*read_time("1900-01-01 00:00:00-00:19:32") == -2'208'988'800'000'000 + 1'172'000'000);
}

TEST_CASE("times beyond what microseconds can hold stay finite") {
    CHECK(time_of_timestamp(time_infinity - 1) == time_infinity - 1);
    CHECK(time_of_date(2'145'031'948) == time_infinity - 1);
    CHECK(*read_time("5874897-12-31") == time_infinity - 1);
    CHECK(*read_time("294276-12-31 23:59:59.999999") == time_infinity - 1);
    CHECK(*read_time("4714-11-24 BC") == time_of_date(-2'451'545));
}

TEST_CASE("every day of eight centuries has the text that is read back") {
    constexpr std::int64_t day = 86'400'000'000;
    std::int64_t wrong = 0;
    for (std::int64_t number = -300'000; number < 300'000; number += 7) {
        const auto read = read_time(date_text(number * day));
        wrong += !read || *read != number * day;
    }
    CHECK(wrong == 0);
}

TEST_CASE("random bytes never crash a codec") {
    constexpr std::array kinds = {
        value_kind::boolean,
        value_kind::integer,
        value_kind::real,
        value_kind::numeric,
        value_kind::uuid,
        value_kind::timestamp,
        value_kind::date,
        value_kind::json};
    std::mt19937 random(7);
    std::size_t good = 0;
    for (int round = 0; round < 1'000'000; ++round) {
        std::string noise(random() % 20, '\0');
        for (auto& byte : noise) {
            byte = static_cast<char>(random());
        }
        const auto kind = kinds[random() % kinds.size()];
        const auto format = random() % 2 == 0 ? value_format::binary : value_format::text;
        const auto read = read_value(kind, 0, format, noise);
        good += read && parameter_text(kind, *read) ? 1 : 0;
    }
    CHECK(good > 0);
}

TEST_CASE("types of pg_type become kinds") {
    CHECK(kind_of(23, 'b') == value_kind::integer);
    CHECK(kind_of(1184, 'b') == value_kind::timestamp);
    CHECK(kind_of(3802, 'b') == value_kind::json);
    CHECK(kind_of(16'999, 'e') == value_kind::text);
    CHECK(kind_of(16'999, 'b') == std::nullopt);
    CHECK(kind_of(869, 'b') == std::nullopt);  // inet
    CHECK(kind_of("timestamptz") == value_kind::timestamp);
    CHECK(kind_of("inet") == std::nullopt);
}

TEST_SUITE_END();

}  // namespace weir::migration
