#include "metrics/series.hpp"

#include "metrics/counter.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>

using namespace weir::metrics;

namespace {

template <std::size_t N>
std::map<label_values<N>, std::uint64_t> values_of(const series<counter, N>& all) {
    std::map<label_values<N>, std::uint64_t> values;
    all.each([&](const label_values<N>& labels, const counter& one) {
        CHECK(values.emplace(labels, one.value()).second);
    });
    return values;
}

}  // namespace

TEST_SUITE_BEGIN("metrics.series");

TEST_CASE("the same labels give the same number and others another") {
    series<counter, 2> all;
    auto& first = all.get({"a", "b"});
    CHECK(&all.get({"a", "b"}) == &first);
    CHECK(&all.get({"b", "a"}) != &first);
    first.add(3);
    const std::map<label_values<2>, std::uint64_t> expected{{{"a", "b"}, 3}, {{"b", "a"}, 0}};
    CHECK(values_of(all) == expected);
}

TEST_CASE("series beyond the limit are counted together and those before it stay apart") {
    series<counter, 1> all(2);
    all.get({"a"}).add(1);
    all.get({"b"}).add(2);
    all.get({"c"}).add(4);
    all.get({"d"}).add(8);
    all.get({"a"}).add(16);
    const std::map<label_values<1>, std::uint64_t> expected{
        {{"a"}, 17},
        {{"b"}, 2},
        {{"other"}, 12}};
    CHECK(values_of(all) == expected);
}

TEST_CASE("a name that says other shares the common series") {
    series<counter, 1> all(1);
    all.get({"other"}).add(1);
    all.get({"x"}).add(2);
    const std::map<label_values<1>, std::uint64_t> expected{{{"other"}, 3}};
    CHECK(values_of(all) == expected);
}

TEST_CASE("a grid finds the series of its names") {
    series<counter, 2> all;
    grid<counter, 2> by_index(all, {{{"r0", "r1"}, {"s0", "s1", "s2"}}});
    by_index.at(1, 2).add(5);
    by_index.at(1, 2).add(5);
    by_index.at(0, 0).add(1);
    const std::map<label_values<2>, std::uint64_t> expected{{{"r0", "s0"}, 1}, {{"r1", "s2"}, 10}};
    CHECK(values_of(all) == expected);

    grid<counter, 2> after_reload(all, {{{"r1"}, {"s2"}}});
    CHECK(&after_reload.at(0, 0) == &by_index.at(1, 2));
}

TEST_CASE("one thread makes and counts while another reads") {
    series<counter, 1> all(1000);
    std::atomic<bool> done = false;
    std::thread reader([&] {
        std::uint64_t last = 0;
        while (!done) {
            std::uint64_t sum = 0;
            all.each([&](const auto&, const counter& one) { sum += one.value(); });
            CHECK(sum >= last);
            last = sum;
        }
    });
    for (int i = 0; i < 5000; ++i) {
        all.get({std::to_string(i)}).add();
    }
    done = true;
    reader.join();
    const auto values = values_of(all);
    CHECK(values.size() == 1001);
    CHECK(values.at({"other"}) == 4000);
}

TEST_SUITE_END();
