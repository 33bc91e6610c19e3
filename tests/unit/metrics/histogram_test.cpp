#include "metrics/histogram.hpp"

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using weir::metrics::histogram;
using weir::metrics::histogram_sum;
using weir::metrics::nanoseconds;

namespace {

histogram_sum sum_of(const histogram& one) {
    histogram_sum sum;
    one.add_to(sum);
    return sum;
}

}  // namespace

TEST_SUITE_BEGIN("metrics.histogram");

TEST_CASE("bounds double from 50 microseconds to 26 seconds") {
    CHECK(histogram::bound(0) == 50us);
    CHECK(histogram::bound(1) == 100us);
    CHECK(histogram::bound(19) == 26'214'400us);
    CHECK(histogram::bounds == 20);
}

TEST_CASE("a duration on a bound belongs to that bucket and one beyond it to the next") {
    for (std::size_t k = 0; k < histogram::bounds; ++k) {
        CAPTURE(k);
        CHECK(histogram::bucket_of(histogram::bound(k)) == k);
        CHECK(histogram::bucket_of(histogram::bound(k) + 1ns) == k + 1);
        CHECK(histogram::bucket_of(histogram::bound(k) - 1ns) == k);
    }
}

TEST_CASE("the ends of the range have a bucket") {
    CHECK(histogram::bucket_of(0ns) == 0);
    CHECK(histogram::bucket_of(-5ns) == 0);
    CHECK(histogram::bucket_of(nanoseconds::min()) == 0);
    CHECK(histogram::bucket_of(nanoseconds::max()) == 20);
}

TEST_CASE("observations land in one bucket each and add up") {
    histogram one;
    one.observe(10us);
    one.observe(75us);
    one.observe(75us);
    one.observe(100s);
    const auto sum = sum_of(one);
    CHECK(sum.buckets[0] == 1);
    CHECK(sum.buckets[1] == 2);
    CHECK(sum.buckets[20] == 1);
    CHECK(sum.nanoseconds == 100'000'160'000ULL);
}

TEST_CASE("a negative duration counts as none") {
    histogram one;
    one.observe(-1s);
    CHECK(sum_of(one).buckets[0] == 1);
    CHECK(sum_of(one).nanoseconds == 0);
}

TEST_SUITE_END();
