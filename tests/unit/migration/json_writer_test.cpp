#include "migration/store/json_writer.hpp"

#include "migration/store/json_reader.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace weir::migration::store {
namespace {

TEST_CASE("commas stand between members and elements only") {
    json_writer out;
    out.begin_object();
    out.name("a");
    out.begin_array();
    out.integer(-1);
    out.unsigned_integer(18446744073709551615U);
    out.begin_object();
    out.end_object();
    out.begin_array();
    out.end_array();
    out.null();
    out.end_array();
    out.name("b");
    out.boolean(true);
    out.name("c");
    out.raw("{\"x\":1}");
    out.name("d");
    out.string("");
    out.end_object();
    CHECK(
        out.text() == R"({"a":[-1,18446744073709551615,{},[],null],"b":true,"c":{"x":1},"d":""})"
    );
    out.clear();
    out.integer(1);
    CHECK(out.text() == "1");
}

TEST_CASE("strings are escaped as JSON wants it") {
    json_writer out;
    out.string(std::string("a\"b\\c/d\n\r\t\b\x1F\x00\x7F ü 漢\xF0\x9F\x90\xA1", 25));
    CHECK(out.text() == "\"a\\\"b\\\\c/d\\n\\r\\t\\u0008\\u001f\\u0000\x7F ü 漢\xF0\x9F\x90\xA1\"");
    const auto read = parse_json(out.text());
    REQUIRE(read);
    CHECK(read->as_string().size() == 25);
}

TEST_CASE("fractions always look like fractions") {
    const auto text = [](double what) {
        json_writer out;
        out.real(what);
        return out.text();
    };
    CHECK(text(5) == "5.0");
    CHECK(text(-0.0) == "-0.0");
    CHECK(text(0.1) == "0.1");
    CHECK(text(1e300) == "1e+300");
    CHECK(text(1e22) == "1e+22");
    CHECK(text(std::numeric_limits<double>::infinity()) == "null");
    CHECK(text(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("a vector is written number by number in the shortest form") {
    json_writer out;
    const std::vector<float> numbers{0.1F, -1.5F, 16777216.0F, 1e-45F, 3.4028235e38F, 0.0F};
    out.vector(numbers);
    CHECK(out.text() == "[0.1,-1.5,16777216,1e-45,3.4028235e+38,0]");
    out.clear();
    out.vector({});
    CHECK(out.text() == "[]");
}

TEST_CASE("vectors keep every bit both ways") {
    std::mt19937 random(7);
    for (const std::size_t size : {1U, 2U, 3U, 4U, 128U, 1536U, 4000U}) {
        std::vector<float> numbers;
        while (numbers.size() < size) {
            const auto bits = random();
            float number = 0;
            std::memcpy(&number, &bits, sizeof number);
            if (std::isfinite(number)) {
                numbers.push_back(number);
            }
        }
        json_writer out;
        out.begin_array();
        out.vector(numbers);
        out.vector_base64(numbers);
        out.end_array();
        const auto read = parse_json(out.text());
        REQUIRE(read);
        CHECK(vector_of(&read->as_array().at(0)) == numbers);
        CHECK(vector_from_base64(text_of(&read->as_array().at(1)).value()) == numbers);
    }
}

TEST_CASE("base64 of vectors is little-endian and padded") {
    json_writer out;
    out.vector_base64(std::vector<float>{0.25F, -1.5F, 3.0F});
    CHECK(out.text() == "\"AACAPgAAwL8AAEBA\"");
    out.clear();
    out.vector_base64(std::vector<float>{1.0F});
    CHECK(out.text() == "\"AACAPw==\"");
    CHECK(vector_from_base64("AACAPw==") == std::vector<float>{1.0F});
    CHECK(vector_from_base64("")->empty());
    for (const auto* wrong : {"AACAPw=", "AACAPw", "AACA", "AAC!Pw==", "AACAPwAA"}) {
        CAPTURE(wrong);
        CHECK(!vector_from_base64(wrong));
    }
}

TEST_CASE("numbers are read exactly") {
    const auto read = parse_json(
        "[9007199254740993,-9223372036854775808,18446744073709551615,0.30000000000000004,"
        "123456789012345680.0,2.2250738585072014e-308,1.7976931348623157e+308,5e-324,-0.0,1e400]"
    );
    REQUIRE(read);
    const auto& all = read->as_array();
    CHECK(all[0].as_int64() == 9007199254740993);
    CHECK(all[1].as_int64() == std::numeric_limits<std::int64_t>::min());
    CHECK(all[2].as_uint64() == 18446744073709551615U);
    CHECK(all[3].as_double() == 0.30000000000000004);
    CHECK(all[4].as_double() == 123456789012345680.0);
    CHECK(all[5].as_double() == std::numeric_limits<double>::min());
    CHECK(all[6].as_double() == std::numeric_limits<double>::max());
    CHECK(all[7].as_double() == std::numeric_limits<double>::denorm_min());
    CHECK(std::signbit(all[8].as_double()));
    CHECK(std::isinf(all[9].as_double()));
}

TEST_CASE("random doubles survive writing and reading") {
    std::mt19937_64 random(11);
    for (int i = 0; i < 20'000; ++i) {
        const auto bits = random();
        double number = 0;
        std::memcpy(&number, &bits, sizeof number);
        if (!std::isfinite(number)) {
            continue;
        }
        json_writer out;
        out.real(number);
        const auto read = parse_json(out.text());
        REQUIRE(read);
        REQUIRE(number_of(&*read) == number);
    }
}

TEST_CASE("what is no JSON is not read") {
    for (const auto* wrong : {"", "{", "[1,]", "nul", "{} x", "[1] [2]", "\"\x01\"", "NaN"}) {
        CAPTURE(wrong);
        CHECK(!parse_json(wrong));
    }
    CHECK(parse_json(" {} \n"));
    CHECK(!parse_json(std::string(100'000, '[')));
}

}  // namespace
}  // namespace weir::migration::store
