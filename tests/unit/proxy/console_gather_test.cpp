#include "proxy/console/gather.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <exception>
#include <optional>
#include <vector>

using namespace weir::proxy;
using namespace weir::proxy::console;

namespace {

// As much of a worker as gather() needs; its loop is run by the test.
struct fake_worker {
    explicit fake_worker(int number) : index(number) {}

    template <class F>
    void post(F&& what) {
        asio::post(io, std::forward<F>(what));
    }

    int index;
    asio::io_context io{1};
};

using parts = std::optional<std::vector<int>>;

struct outcome {
    bool over = false;
    parts found;
};

void start(fake_worker& home, const std::vector<fake_worker*>& all, outcome& into) {
    const auto make = [](fake_worker& asked) { return asked.index * 10; };
    asio::co_spawn(
        home.io,
        gather(home, all, make, std::chrono::milliseconds(50)),
        [&into](const std::exception_ptr& error, parts found) {
            CHECK(error == nullptr);
            into.over = true;
            into.found = std::move(found);
        }
    );
}

}  // namespace

TEST_SUITE_BEGIN("proxy.console_gather");

TEST_CASE("every worker's part comes in its place whoever answers first") {
    fake_worker a(1);
    fake_worker b(2);
    fake_worker c(3);
    outcome got;
    start(b, {&a, &b, &c}, got);
    b.io.poll();  // asks; its own part is there
    c.io.run();
    b.io.poll();
    CHECK_FALSE(got.over);
    a.io.run();
    b.io.run();
    REQUIRE(got.over);
    CHECK(got.found == parts(std::vector<int>{10, 20, 30}));
}

TEST_CASE("a worker that does not answer in time leaves nothing") {
    fake_worker a(1);
    fake_worker b(2);
    outcome got;
    start(a, {&a, &b}, got);
    a.io.run();
    REQUIRE(got.over);
    CHECK_FALSE(got.found.has_value());
    b.io.run();  // too late: its part is dropped
    a.io.restart();
    CHECK(a.io.run() == 1);
}

TEST_CASE("nobody to ask is no wait") {
    fake_worker a(1);
    outcome got;
    start(a, {}, got);
    a.io.run();
    CHECK(got.found == parts(std::vector<int>{}));
}

TEST_SUITE_END();
