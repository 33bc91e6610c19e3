#include "migration/watermark.hpp"

#include "migration/lag_clock.hpp"
#include "migration/retry.hpp"
#include "migration/source_reader.hpp"
#include "migration/version.hpp"

#include <doctest/doctest.h>

namespace weir::migration {

using namespace std::chrono_literals;

TEST_SUITE_BEGIN("migration.watermark");

TEST_CASE("a position counts when everything before it is done") {
    watermark mark(2, 5);
    CHECK(mark.reached() == 5);
    const auto first = mark.give(0);
    const auto second = mark.give(1);
    mark.mark(100);
    const auto third = mark.give(0);
    mark.mark(200);
    CHECK(mark.reached() == 5);
    mark.done(0, first);
    CHECK(mark.reached() == 5);
    mark.done(1, second);
    CHECK(mark.reached() == 100);
    CHECK_FALSE(mark.idle());
    mark.done(0, third);
    CHECK(mark.reached() == 200);
    CHECK(mark.idle());
}

TEST_CASE("a slow lane holds back what the others have done") {
    watermark mark(3, 0);
    const auto slow = mark.give(2);
    for (std::uint64_t i = 1; i <= 10; ++i) {
        mark.done(0, mark.give(0));
        mark.mark(i * 10);
    }
    CHECK(mark.reached() == 0);
    mark.done(2, slow);
    CHECK(mark.reached() == 100);
}

TEST_CASE("B140 a quiet stream moves at once") {
    watermark mark(2, 0);
    mark.mark(50);
    CHECK(mark.reached() == 50);
    const auto one = mark.give(0);
    mark.mark(60);
    mark.mark(70);
    CHECK(mark.reached() == 50);
    mark.done(0, one);
    CHECK(mark.reached() == 70);
}

TEST_CASE("versions and their texts have one order") {
    const version all[] =
        {{1, 0, 0}, {1, 9, 5}, {1, 10, 0}, {1, 0xFFFFFFFFFFFFFFFF, 1}, {2, 1, 0}, {16, 0, 0}};
    for (const auto& left : all) {
        CHECK(parse_version(to_text(left)) == left);
        for (const auto& right : all) {
            CHECK((to_text(left) < to_text(right)) == (left < right));
        }
    }
    CHECK_FALSE(parse_version("00000001.0000000000000001.0000000"));
    CHECK_FALSE(parse_version("0000000g.0000000000000001.00000000"));
    CHECK_FALSE(parse_version("00000001-0000000000000001-00000000"));
}

TEST_CASE("lag is the age of the oldest commit that is not in the store") {
    lag_clock clock;
    clock.committed(100, 1'000'000);
    clock.committed(200, 3'000'000);
    clock.seen(250);
    CHECK(clock.bytes() == 250);
    CHECK(clock.seconds(5'000'000) == doctest::Approx(4.0));
    clock.reached(100);
    CHECK(clock.bytes() == 150);
    CHECK(clock.seconds(5'000'000) == doctest::Approx(2.0));
    clock.reached(250);
    CHECK(clock.bytes() == 0);
    CHECK(clock.seconds(5'000'000) == 0.0);
}

TEST_CASE("pauses grow and obey the store") {
    const store::error plain{.what = store::fault::failed, .text = {}};
    CHECK(pause_after(plain, 0, 0.0) == 250ms);
    CHECK(pause_after(plain, 3, 0.0) == 2000ms);
    CHECK(pause_after(plain, 50, 0.0) == 8000ms);
    CHECK(pause_after(plain, 50, 1.0) == 6000ms);
    const store::error told{.what = store::fault::throttled, .text = {}, .retry_after = 60s};
    CHECK(pause_after(told, 0, 0.0) == 60s);
    const store::error endless{.what = store::fault::throttled, .text = {}, .retry_after = 24h};
    CHECK(pause_after(endless, 0, 0.0) == 300s);
}

TEST_CASE("a transaction is visible when the snapshot says that it has ended") {
    CHECK(visible_in("700:710:702,705", 699));
    CHECK(visible_in("700:710:702,705", 703));
    CHECK_FALSE(visible_in("700:710:702,705", 702));
    CHECK_FALSE(visible_in("700:710:702,705", 705));
    CHECK_FALSE(visible_in("700:710:702,705", 710));
    CHECK_FALSE(visible_in("700:710:702,705", 800));
    CHECK(visible_in("710:710:", 709));
    CHECK_FALSE(visible_in("nonsense", 5));
}

TEST_CASE("transactions are told apart across the turn of the epoch") {
    // 4294967296 is the first of epoch 1; 4294967290 is of the epoch before.
    CHECK(visible_in("4294967300:4294967300:", 4294967290U));
    CHECK(visible_in("4294967300:4294967300:", 3));
    CHECK_FALSE(visible_in("4294967290:4294967300:4294967290", 4294967290U));
    CHECK_FALSE(visible_in("4294967300:4294967300:", 4));
}

TEST_SUITE_END();

}  // namespace weir::migration
