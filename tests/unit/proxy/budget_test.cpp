#include "proxy/upstream/budget.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <random>
#include <thread>
#include <vector>

namespace weir::proxy::test {

using upstream::budget;

namespace {

unsigned take_all(budget& slots, unsigned worker) {
    unsigned taken = 0;
    while (slots.take(worker)) {
        ++taken;
    }
    return taken;
}

class town {
public:
    town(std::uint32_t limit, unsigned workers)
        : slots_(limit, workers), pools_(workers), served(workers, 0) {
        for (unsigned i = 0; i < workers; ++i) {
            slots_.attach(i, [this, i] { posted_.push_back(i); });
        }
    }

    void arrive(unsigned worker) {
        auto& pool = pools_[worker];
        if (pool.idle != 0 && pool.waiting == 0) {
            --pool.idle;
            ++pool.busy;
            return;
        }
        ++pool.waiting;
        open_more(worker);
    }

    void step(unsigned worker) {
        auto& pool = pools_[worker];
        if (pool.opening != 0) {
            --pool.opening;
            idle(worker);
        } else if (pool.busy != 0) {
            --pool.busy;
            ++served[worker];
            idle(worker);
        }
        while (!posted_.empty()) {
            const auto next = posted_.front();
            posted_.pop_front();
            poked(next);
        }
        unsigned held = 0;
        for (const auto& each : pools_) {
            held += each.idle + each.busy + each.opening;
        }
        CHECK(held == slots_.used());
        most = std::max(most, held);
    }

    [[nodiscard]] unsigned waiting(unsigned worker) const { return pools_[worker].waiting; }

    [[nodiscard]] const budget& slots() const { return slots_; }

private:
    struct stock {
        unsigned waiting = 0;
        unsigned opening = 0;
        unsigned busy = 0;
        unsigned idle = 0;
    };

    void publish(unsigned worker) {
        const auto& pool = pools_[worker];
        slots_.waiting(worker, pool.waiting > pool.opening ? pool.waiting - pool.opening : 0);
    }

    void open_more(unsigned worker) {
        auto& pool = pools_[worker];
        while (pool.opening < pool.waiting && slots_.take(worker)) {
            ++pool.opening;
        }
        publish(worker);
    }

    void idle(unsigned worker) {
        auto& pool = pools_[worker];
        if (slots_.should_yield(worker, pool.waiting != 0)) {
            slots_.give_back(worker);
            open_more(worker);
        } else if (pool.waiting != 0) {
            --pool.waiting;
            ++pool.busy;
            publish(worker);
        } else {
            ++pool.idle;
        }
    }

    void poked(unsigned worker) {
        auto& pool = pools_[worker];
        if (pool.waiting != 0) {
            open_more(worker);
        } else if (pool.idle != 0 && slots_.should_yield(worker, false)) {
            --pool.idle;
            slots_.give_back(worker);
            open_more(worker);
        }
    }

    budget slots_;
    std::vector<stock> pools_;
    std::deque<unsigned> posted_;

public:
    std::vector<unsigned> served;
    unsigned most = 0;
};

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
    std::atomic<bool> above{false};
};

}  // namespace

TEST_SUITE_BEGIN("proxy.budget");

TEST_CASE("no more slots than the limit whatever the number of workers") {
    for (const unsigned workers : {1U, 2U, 4U}) {
        for (const std::uint32_t limit : {0U, 1U, 3U, 20U}) {
            budget slots(limit, workers);
            unsigned taken = 0;
            for (unsigned i = 0; i < workers; ++i) {
                taken += take_all(slots, i);
            }
            CHECK(taken == limit);
            CHECK(slots.used() == limit);
            CHECK_FALSE(slots.take(workers - 1));
        }
    }
}

TEST_CASE("slots given back can be taken again by anybody") {
    budget slots(2, 2);
    CHECK(take_all(slots, 0) == 2);
    CHECK_FALSE(slots.take(1));
    slots.give_back(0);
    CHECK(slots.used() == 1);
    CHECK(slots.take(1));
    CHECK_FALSE(slots.take(0));
    slots.give_back(1);
    slots.give_back(0);
    CHECK(slots.used() == 0);
    CHECK(take_all(slots, 1) == 2);
}

TEST_CASE("a lower limit holds at once and a higher one gives more") {
    budget slots(3, 1);
    CHECK(take_all(slots, 0) == 3);
    slots.set_limit(2);
    CHECK(slots.limit() == 2);
    slots.give_back(0);
    CHECK_FALSE(slots.take(0));
    slots.give_back(0);
    CHECK(slots.take(0));
    CHECK_FALSE(slots.take(0));
    slots.set_limit(5);
    CHECK(take_all(slots, 0) == 3);
}

TEST_CASE("the last free slot goes to the worker that waits and holds less") {
    budget slots(4, 2);
    CHECK(slots.take(0));
    CHECK(slots.take(0));
    slots.waiting(1, 1);
    CHECK(slots.take(0));        // two were free
    CHECK_FALSE(slots.take(0));  // one is
    CHECK(slots.take(1));
    CHECK(slots.used() == 4);
}

TEST_CASE("of two that hold the same the one that was served longer ago comes first") {
    budget slots(1, 3);
    for (const unsigned worker : {0U, 1U, 2U}) {
        slots.waiting(worker, 1);
    }
    CHECK(slots.take(0));
    slots.give_back(0);
    CHECK_FALSE(slots.take(0));
    CHECK(slots.take(1));
    slots.give_back(1);
    CHECK_FALSE(slots.take(1));
    CHECK_FALSE(slots.take(0));
    CHECK(slots.take(2));
    slots.give_back(2);
    CHECK(slots.take(0));
}

TEST_CASE("whoever does not wait yet comes behind those who do") {
    budget slots(1, 2);
    slots.waiting(1, 1);
    CHECK_FALSE(slots.take(0));
    slots.waiting(1, 0);
    CHECK(slots.take(0));
}

TEST_CASE("nobody yields while nobody waits or a slot is free") {
    budget slots(2, 2);
    CHECK(slots.take(0));
    CHECK_FALSE(slots.should_yield(0, false));
    slots.waiting(1, 1);
    CHECK_FALSE(slots.should_yield(0, false));
    CHECK(slots.take(1));
    CHECK(slots.should_yield(0, false));
    slots.waiting(1, 0);
    CHECK_FALSE(slots.should_yield(0, false));
}

TEST_CASE("an unneeded connection yields to any waiter and a needed one only down to the fair share"
) {
    budget slots(4, 2);
    CHECK(take_all(slots, 0) == 4);
    slots.waiting(0, 5);
    slots.waiting(1, 5);
    CHECK_FALSE(slots.should_yield(0, true));  // the last one taken serves somebody first
    CHECK(slots.should_yield(0, true));
    slots.give_back(0);
    CHECK(slots.take(1));
    CHECK(slots.should_yield(0, true));
    slots.give_back(0);
    CHECK(slots.take(1));
    CHECK_FALSE(slots.should_yield(0, true));  // two and two
    CHECK_FALSE(slots.should_yield(1, true));
    CHECK_FALSE(slots.should_yield(1, true));
    CHECK(slots.should_yield(0, false));
}

TEST_CASE("a closing connection counts until its server is done with it") {
    budget slots(1, 2);
    CHECK(slots.take(0));
    slots.waiting(1, 1);
    CHECK(slots.should_yield(0, false));
    slots.begin_return(0);
    CHECK(slots.used() == 1);
    CHECK_FALSE(slots.take(1));
    CHECK_FALSE(slots.should_yield(0, false));  // a slot is on its way
    slots.end_return();
    CHECK(slots.used() == 0);
    CHECK(slots.take(1));
}

TEST_CASE("a worker does not yield to itself") {
    budget slots(1, 2);
    CHECK(slots.take(0));
    slots.waiting(0, 3);
    CHECK_FALSE(slots.should_yield(0, true));
    CHECK_FALSE(slots.should_yield(0, true));
    CHECK_FALSE(slots.should_yield(0, false));
}

TEST_CASE("pokes reach those who can do something about it") {
    budget slots(1, 3);
    std::vector<unsigned> poked;
    for (unsigned i = 0; i < 3; ++i) {
        slots.attach(i, [&poked, i] { poked.push_back(i); });
    }
    CHECK(slots.take(0));
    CHECK(poked.empty());
    slots.waiting(1, 1);
    CHECK(poked == std::vector<unsigned>{0, 2});  // one of them may have an idle connection
    poked.clear();
    slots.waiting(1, 2);
    CHECK(poked.empty());
    slots.give_back(0);
    CHECK(poked == std::vector<unsigned>{1});
    poked.clear();
    slots.waiting(2, 1);
    poked.clear();
    slots.waiting(1, 0);  // leaves: the slot is free for the other
    CHECK(poked == std::vector<unsigned>{2});
    poked.clear();
    slots.waiting(1, 1);
    poked.clear();
    slots.detach(1);
    CHECK(poked == std::vector<unsigned>{2});
    poked.clear();
    slots.waiting(0, 1);
    CHECK(poked == std::vector<unsigned>{2});
    poked.clear();
    CHECK(slots.take(2));  // the last slot: only idle connections help worker 0 now
    CHECK(poked == std::vector<unsigned>{0});
}

TEST_CASE("one connection for two workers serves both for ever") {
    town both(1, 2);
    for (int round = 0; round < 300; ++round) {
        for (const unsigned worker : {0U, 1U}) {
            while (both.waiting(worker) < 3) {
                both.arrive(worker);
            }
            both.step(worker);
        }
    }
    CHECK(both.most == 1);
    CHECK(both.served[0] >= 60);
    CHECK(both.served[1] >= 60);
    const auto [less, more] = std::minmax(both.served[0], both.served[1]);
    CHECK(more - less <= 1);
}

TEST_CASE("a busy worker gives a quiet one its turn") {
    town all(2, 4);
    for (int round = 0; round < 100; ++round) {
        while (all.waiting(0) < 10) {
            all.arrive(0);
        }
        if (all.waiting(3) == 0 && round % 10 == 0) {
            all.arrive(3);
        }
        for (unsigned i = 0; i < 4; ++i) {
            all.step(i);
        }
    }
    CHECK(all.most == 2);
    CHECK(all.served[3] >= 9);
    CHECK(all.served[0] >= 60);
}

TEST_CASE("random arrivals never go above the limit and everybody is served in the end") {
    std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same arrivals in every run
    for (int round = 0; round < 200; ++round) {
        const auto workers = static_cast<unsigned>(1 + random() % 4);
        const auto limit = static_cast<std::uint32_t>(1 + random() % 5);
        town all(limit, workers);
        std::vector<unsigned> arrived(workers, 0);
        for (int i = 0; i < 100; ++i) {
            const auto worker = static_cast<unsigned>(random() % workers);
            if (random() % 2 == 0) {
                all.arrive(worker);
                ++arrived[worker];
            } else {
                all.step(worker);
            }
        }
        for (int i = 0; i < 1000; ++i) {
            all.step(static_cast<unsigned>(i) % workers);
        }
        CHECK(all.most <= limit);
        CHECK(all.served == arrived);
    }
}

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
