#include "proxy/upstream/budget.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace weir::proxy::test {

using upstream::budget;

namespace {

// Takes as many as it gets.
unsigned take_all(budget& slots, unsigned worker) {
    unsigned taken = 0;
    while (slots.take(worker)) {
        ++taken;
    }
    return taken;
}

// What every thread does with a budget of all.
struct crowd {
    crowd(std::uint32_t limit, unsigned workers) : slots(limit, workers) {}

    void run(unsigned worker) {
        for (int i = 0; i < 20'000; ++i) {
            if (!slots.take(worker)) {
                slots.waiting(worker, 1);
                continue;
            }
            if (held.fetch_add(1) >= slots.limit()) {
                above = true;
            }
            slots.waiting(worker, 0);
            (void)slots.should_yield(worker, i % 2 == 0);
            held.fetch_sub(1);
            slots.give_back(worker);
        }
        slots.waiting(worker, 0);
    }

    budget slots;
    std::atomic<unsigned> held{0};

}  // namespace

TEST_SUITE_BEGIN("proxy.budget_threads");

TEST_CASE("threads that take and give back at once stay below the limit") {
    constexpr unsigned workers = 4;
    crowd together(3, workers);
    std::vector<std::thread> threads;
    for (unsigned worker = 0; worker < workers; ++worker) {
        threads.emplace_back([&together, worker] { together.run(worker); });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK_FALSE(together.above);
    CHECK(together.held == 0);
    CHECK(together.slots.used() == 0);
    CHECK(take_all(together.slots, 0) == 3);
}

TEST_SUITE_END();

}  // namespace weir::proxy::test
