#include "config/units.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string_view>

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace weir::config {

TEST_SUITE_BEGIN("config.units");

TEST_CASE("durations are read with their unit") {
    struct row {
        std::string_view text;
        milliseconds value;
    };

    constexpr row rows[] = {
        {"0", 0ms},
        {"0s", 0ms},
        {"200ms", 200ms},
        {"2s", 2s},
        {"10m", 10min},
        {"1h", 1h},
        {"7d", 168h},
        {"120s", 2min},
        {"9223372036854775807ms", milliseconds(std::numeric_limits<std::int64_t>::max())},
    };
    for (const auto& r : rows) {
        CAPTURE(r.text);
        const auto parsed = parse_duration(r.text);
        CHECK(parsed.problem == unit_problem::none);
        CHECK(parsed.value.count() == r.value.count());
    }
}

TEST_CASE("what is no duration says why") {
    struct row {
        std::string_view text;
        unit_problem problem;
    };

    constexpr row rows[] = {
        {"", unit_problem::no_number},
        {"s", unit_problem::no_number},
        {"-5s", unit_problem::no_number},
        {"+5s", unit_problem::no_number},
        {" 5s", unit_problem::no_number},
        {"5", unit_problem::no_unit},
        {"5 s", unit_problem::unknown_unit},
        {"1.5s", unit_problem::unknown_unit},
        {"5S", unit_problem::unknown_unit},
        {"5us", unit_problem::unknown_unit},
        {"9223372036854775808ms", unit_problem::too_large},
        {"9223372036854775807s", unit_problem::too_large},
        {"18446744073709551616ms", unit_problem::too_large},
        {"106751991168d", unit_problem::too_large},
    };
    for (const auto& r : rows) {
        CAPTURE(r.text);
        const auto parsed = parse_duration(r.text);
        CHECK(parsed.problem == r.problem);
        CHECK(parsed.value.count() == 0);
    }
}

TEST_CASE("sizes are read with or without their unit") {
    struct row {
        std::string_view text;
        std::uint64_t value;
    };

    constexpr row rows[] = {
        {"0", 0},
        {"1", 1},
        {"1B", 1},
        {"512KiB", 524288},
        {"64MiB", 67108864},
        {"1GiB", 1073741824},
        {"2TiB", 2199023255552},
        {"9223372036854775807", 9223372036854775807},
    };
    for (const auto& r : rows) {
        CAPTURE(r.text);
        const auto parsed = parse_size(r.text);
        CHECK(parsed.problem == unit_problem::none);
        CHECK(parsed.value == r.value);
    }
}

TEST_CASE("what is no size says why") {
    CHECK(parse_size("").problem == unit_problem::no_number);
    CHECK(parse_size("MiB").problem == unit_problem::no_number);
    CHECK(parse_size("64MB").problem == unit_problem::unknown_unit);
    CHECK(parse_size("64mib").problem == unit_problem::unknown_unit);
    CHECK(parse_size("9223372036854775808").problem == unit_problem::too_large);
    CHECK(parse_size("8388608TiB").problem == unit_problem::too_large);
}

TEST_CASE("values are printed in the largest unit that divides them and read back") {
    CHECK(print_duration(0ms) == "0");
    CHECK(print_duration(1ms) == "1ms");
    CHECK(print_duration(1500ms) == "1500ms");
    CHECK(print_duration(90s) == "90s");
    CHECK(print_duration(120s) == "2m");
    CHECK(print_duration(1h) == "1h");
    CHECK(print_duration(24h) == "1d");
    CHECK(print_size(0) == "0");
    CHECK(print_size(1) == "1B");
    CHECK(print_size(1025) == "1025B");
    CHECK(print_size(1536) == "1536B");
    CHECK(print_size(524288) == "512KiB");
    CHECK(print_size(1ULL << 40) == "1TiB");
    for (const auto ms : {1, 999, 1000, 60000, 61000, 3600000, 86400000, 90000000}) {
        CAPTURE(ms);
        CHECK(parse_duration(print_duration(milliseconds(ms))).value.count() == ms);
        CHECK(parse_size(print_size(static_cast<std::uint64_t>(ms))).value == ms);
    }
}

TEST_SUITE_END();

}  // namespace weir::config
