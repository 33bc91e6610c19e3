#include "proxy/monitor_query.hpp"

#include <doctest/doctest.h>

using namespace weir;
using namespace weir::proxy;

namespace {

constexpr monitor_row
    standby{"t", "7301234567890123456", "26", "0/3000148", "0/3000200", "", "not paused", "150020"};
constexpr monitor_row primary{"f", "7301234567890123456", "0000001A", "", "", "1/10", "", "150020"};

monitor_row with(monitor_row row, std::size_t column, std::string_view value) {
    row[column] = value;
    return row;
}

}  // namespace

TEST_SUITE_BEGIN("proxy.monitor_query");

TEST_CASE("a standby's answer gives its positions and its receiver's timeline in decimal") {
    const auto sample = sample_of(standby);
    CHECK(sample.error.empty());
    CHECK(sample.in_recovery);
    CHECK(sample.system_identifier == 7301234567890123456ULL);
    CHECK(sample.timeline.value == 26);
    CHECK(sample.replayed.value == 0x3000148);
    CHECK(sample.received.value == 0x3000200);
    CHECK(sample.inserted.value == 0);
    CHECK_FALSE(sample.replay_paused);
    CHECK(sample.server_version == 150020);
}

TEST_CASE("a primary's answer gives its insert position and the timeline of its file in hex") {
    const auto sample = sample_of(primary);
    CHECK(sample.error.empty());
    CHECK_FALSE(sample.in_recovery);
    CHECK(sample.timeline.value == 26);
    CHECK(sample.inserted.value == 0x100000010);
    CHECK_FALSE(sample.replay_paused);
}

TEST_CASE("a standby without a receiver has an unknown timeline and no received position") {
    const auto sample = sample_of(with(with(standby, 2, ""), 4, ""));
    CHECK(sample.error.empty());
    CHECK(sample.timeline.value == 0);
    CHECK(sample.received.value == 0);
}

TEST_CASE("a pause counts as soon as it is asked for") {
    CHECK(sample_of(with(standby, 6, "pause requested")).replay_paused);
    CHECK(sample_of(with(standby, 6, "paused")).replay_paused);
    CHECK(sample_of(with(standby, 6, "")).replay_paused);
}

TEST_CASE("an answer that cannot be read is an error") {
    CHECK_FALSE(sample_of(with(standby, 0, "")).error.empty());
    CHECK_FALSE(sample_of(with(standby, 1, "")).error.empty());
    CHECK_FALSE(sample_of(with(standby, 1, "12x")).error.empty());
    CHECK_FALSE(sample_of(with(standby, 3, "nonsense")).error.empty());
}

TEST_CASE("a timeline that is no number is unknown") {
    CHECK(decimal_timeline("3").value == 3);
    CHECK(decimal_timeline("").value == 0);
    CHECK(decimal_timeline("x").value == 0);
    CHECK(decimal_timeline("4294967296").value == 0);
}

TEST_SUITE_END();
