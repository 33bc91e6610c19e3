// Many owners, severed again and again: writes of two of them never meet.
#include "migration/lease.hpp"
#include "tests/migration/source_tools.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::migration {

namespace {

using namespace std::chrono_literals;

constexpr auto duration = 300ms;
constexpr auto request_timeout = 200ms;

struct request {
    std::uint64_t epoch = 0;
    lease::clock::time_point from;  // the look at the lease that allowed it
    lease::clock::time_point to;
};

struct race {
    std::atomic<bool> over = false;
    std::mutex mutex;
    std::vector<request> requests;

    void add(const request& one) {
        const std::lock_guard guard(mutex);
        requests.push_back(one);
    }

    std::size_t owners() {
        const std::lock_guard guard(mutex);
        std::vector<std::uint64_t> epochs;
        for (const auto& one : requests) {
            if (epochs.empty() || epochs.back() != one.epoch) {
                epochs.push_back(one.epoch);
            }
        }
        return epochs.size();
    }
};

// Takes the lease, writes while it may, and tries again when it is lost.
void compete(race& all, const std::string& name) {
    lease own(
        {.migration = "race",
         .owner = name,
         .duration = duration,
         .request_timeout = request_timeout}
    );
    while (!all.over) {
        if (own.try_take(test::primary_address()).what != lease_try::taken) {
            std::this_thread::sleep_for(20ms);
            continue;
        }
        bool lost = false;
        // What is valid is used to its end, also when it was not renewed.
        while (!all.over && (!lost || own.valid(lease::clock::now()))) {
            const auto looked = lease::clock::now();
            if (own.valid(looked)) {
                std::this_thread::sleep_for(10ms);
                all.add({.epoch = own.epoch(), .from = looked, .to = lease::clock::now()});
            } else {
                std::this_thread::sleep_for(10ms);
            }
            lost = lost || own.renew().has_value();
        }
    }
}

}  // namespace

TEST_SUITE_BEGIN("migration.lease_race");

TEST_CASE("B148 two writers at once are impossible however often sessions are severed") {
    const test::clean_journal clean;
    race all;
    {
        std::vector<std::jthread> owners;
        for (const std::string name : {"a", "b", "c"}) {
            owners.emplace_back([&all, name] { compete(all, name); });
        }
        auto session = test::superuser();
        CHECK(integration::wait_until(
            [&] {
                std::this_thread::sleep_for(400ms);
                session.try_query(
                    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = "
                    "'advisory' AND granted"
                );
                return all.owners() >= 8;
            },
            60s
        ));
        all.over = true;
    }
    // A thread that did not run for longer than a request may take is no evidence.
    std::erase_if(all.requests, [](const request& one) {
        return one.to - one.from > request_timeout;
    });
    std::sort(all.requests.begin(), all.requests.end(), [](const request& a, const request& b) {
        return a.from < b.from;
    });
    int met = 0;
    for (std::size_t i = 1; i < all.requests.size(); ++i) {
        const auto& earlier = all.requests[i - 1];
        const auto& later = all.requests[i];
        met += earlier.epoch != later.epoch && earlier.to > later.from ? 1 : 0;
        CHECK(later.epoch >= earlier.epoch);
    }
    CHECK(met == 0);
    CHECK(all.requests.size() > 20);
}

TEST_SUITE_END();

}  // namespace weir::migration
