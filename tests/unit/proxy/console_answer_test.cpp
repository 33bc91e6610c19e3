#include "protocol/byte_reader.hpp"
#include "proxy/console/answer.hpp"
#include "proxy/console/describe.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace weir;
using namespace weir::proxy::console;
using namespace std::chrono_literals;
using namespace std::string_view_literals;

TEST_SUITE_BEGIN("proxy.console_answer");

TEST_CASE("rows are encoded as text or binary") {
    const fields columns{
        {"t"},
        {"i", value_type::integer},
        {"r", value_type::real},
        {"b", value_type::boolean}};
    const row values{"ab", std::int64_t{258}, 0.5, true};
    std::vector<std::uint8_t> bytes;
    protocol::byte_writer writer(bytes);
    encode_row(writer, values, {1, 1, 1, 1});
    const auto binary =
        "D\0\0\0\x29\0\4\0\0\0\2ab\0\0\0\x8\0\0\0\0\0\0\1\2"
        "\0\0\0\x8\x3f\xe0\0\0\0\0\0\0\0\0\0\1\1"sv;
    CHECK(protocol::as_text(bytes) == binary);
    bytes.clear();
    encode_row(writer, values, {});
    CHECK(
        protocol::as_text(bytes) ==
        "D\0\0\0\x1f\0\4\0\0\0\2ab\0\0\0\3"
        "258\0\0\0\3"
        "0.5\0\0\0\1t"sv
    );
}

TEST_CASE("columns are described with their types and formats") {
    const fields columns{{"a"}, {"b", value_type::integer}};
    std::vector<std::uint8_t> bytes;
    protocol::byte_writer writer(bytes);
    encode_description(writer, columns, {0, 1});
    const auto expected =
        "T\0\0\0\x2e\0\2a\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0"
        "b\0\0\0\0\0\0\0\0\0\0\x14\0\x8\xff\xff\xff\xff\0\1"sv;
    CHECK(protocol::as_text(bytes) == expected);
}

TEST_CASE("addresses are split into host and port") {
    CHECK(
        split_address("127.0.0.1:5432") == std::pair<std::string, std::int64_t>("127.0.0.1", 5432)
    );
    CHECK(split_address("[::1]:5432") == std::pair<std::string, std::int64_t>("::1", 5432));
    CHECK(split_address("unix") == std::pair<std::string, std::int64_t>("unix", 0));
}

TEST_CASE("waits are whole seconds and the rest and never negative") {
    CHECK(wait_of(2500ms).seconds == 2);
    CHECK(wait_of(2500ms).microseconds == 500'000);
    CHECK(wait_of(-1s).seconds == 0);
    CHECK(wait_of(-1s).microseconds == 0);
}

TEST_CASE("a time that never was is NULL") {
    CHECK(std::holds_alternative<std::monostate>(wall_time({}, proxy::steady_time::clock::now())));
    const auto now = proxy::steady_time::clock::now();
    const auto shown = to_text(wall_time(now - 1h, now));
    CHECK(shown.size() == std::string("2026-08-22 18:43:11 UTC").size());
    CHECK(shown.ends_with(" UTC"));
}

TEST_SUITE_END();
