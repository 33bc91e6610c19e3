#include "migration/lease.hpp"

#include "tests/migration/source_tools.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace weir::migration {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using test::clean_journal;
using test::primary_address;

lease_terms terms(const std::string& owner, milliseconds duration, milliseconds request) {
    return {
        .migration = "groups",
        .owner = owner,
        .duration = duration,
        .request_timeout = request};
}

// Ends the session that holds the migration's advisory lock.
void sever() {
    auto session = test::superuser();
    REQUIRE(
        session.value(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND "
            "granted AND database = (SELECT oid FROM pg_database WHERE datname = 'app')"
        ) == "1"
    );
}

// A process of its own that takes the lease, says so, and renews it for ever.
class other_process {
public:
    explicit other_process(const lease_terms& what) {
        const auto where = primary_address();
        REQUIRE(pipe(ends_.data()) == 0);
        process_ = fork();
        REQUIRE(process_ >= 0);
        if (process_ == 0) {
            run(what, where);
        }
        char said = 0;
        REQUIRE(read(ends_[0], &said, 1) == 1);
        REQUIRE(said == 'y');
    }

    other_process(const other_process&) = delete;
    other_process& operator=(const other_process&) = delete;

    ~other_process() {
        kill_it();
        close(ends_[0]);
        close(ends_[1]);
    }

    void kill_it() {
        if (process_ > 0) {
            kill(process_, SIGKILL);
            waitpid(process_, nullptr, 0);
            process_ = 0;
        }
    }

    void stop_it() const { kill(process_, SIGSTOP); }

private:
    [[noreturn]] void run(const lease_terms& what, const source_address& where) const {
        lease own(what);
        const char said = own.try_take(where).what == lease_try::taken ? 'y' : 'n';
        if (write(ends_[1], &said, 1) == 1) {
            while (!own.renew()) {
                std::this_thread::sleep_for(what.duration / 4);
            }
        }
        _exit(0);
    }

    std::array<int, 2> ends_{};
    pid_t process_ = 0;
};

}  // namespace

TEST_SUITE_BEGIN("migration.lease");

TEST_CASE("one of two gets the lease and hands it over") {
    const clean_journal clean;
    lease first(terms("first", 10s, 60s));
    lease second(terms("second", 10s, 60s));
    CHECK(first.epoch() == 0);
    CHECK_FALSE(first.valid(lease::clock::now()));
    REQUIRE(first.try_take(primary_address()).what == lease_try::taken);
    CHECK(first.epoch() == 1);
    CHECK(first.valid(lease::clock::now()));
    CHECK_FALSE(first.valid(lease::clock::now() + 10s));
    CHECK(second.try_take(primary_address()).what == lease_try::held);
    CHECK_FALSE(second.valid(lease::clock::now()));
    CHECK(second.epoch() == 0);
    CHECK_FALSE(first.renew().has_value());
    CHECK(first.valid(lease::clock::now()));

    first.release(true);
    CHECK_FALSE(first.valid(lease::clock::now()));
    REQUIRE(test::take(second, primary_address()).what == lease_try::taken);
    CHECK(second.epoch() == 2);
    // Nothing was under way, so there is nothing to wait for.
    CHECK(second.valid(lease::clock::now()));
}

TEST_CASE("a lease that is given back in a hurry is waited out") {
    const clean_journal clean;
    lease first(terms("first", 10s, 60s));
    const auto before = lease::clock::now();
    REQUIRE(first.try_take(primary_address()).what == lease_try::taken);
    first.release(false);
    lease second(terms("second", 10s, 60s));
    REQUIRE(test::take(second, primary_address()).what == lease_try::taken);
    CHECK_FALSE(second.valid(lease::clock::now()));
    CHECK(second.writes_from() >= before + 70s);
    // It may go before it has begun; then the next one waits for both.
    second.release(true);
    lease third(terms("third", 10s, 60s));
    REQUIRE(test::take(third, primary_address()).what == lease_try::taken);
    CHECK(third.epoch() == 3);
    CHECK(third.writes_from() >= before + 70s);
}

TEST_CASE("a severed connection ends the lease") {
    const clean_journal clean;
    lease first(terms("first", 1s, 2s));
    const auto before = lease::clock::now();
    REQUIRE(first.try_take(primary_address()).what == lease_try::taken);
    sever();
    lease second(terms("second", 1s, 2s));
    REQUIRE(test::take(second, primary_address()).what == lease_try::taken);
    CHECK(second.epoch() == 2);
    CHECK(second.writes_from() >= before + 3s);
    CHECK(first.renew().has_value());
    CHECK(first.epoch() == 1);
    // By its own clock the first one's time ends before the second one's begins.
    CHECK_FALSE(first.valid(second.writes_from()));
    CHECK(first.try_take(primary_address()).what == lease_try::held);
    REQUIRE(integration::wait_until([&] {
        static_cast<void>(second.renew());
        return second.valid(lease::clock::now());
    }));
    CHECK_FALSE(first.valid(lease::clock::now()));
}

TEST_CASE("who had the lease last need not wait for himself") {
    const clean_journal clean;
    lease own(terms("own", 10s, 60s));
    REQUIRE(own.try_take(primary_address()).what == lease_try::taken);
    sever();
    CHECK(own.renew().has_value());
    REQUIRE(test::take(own, primary_address()).what == lease_try::taken);
    CHECK(own.epoch() == 2);
    CHECK(own.valid(lease::clock::now()));
}

TEST_CASE("the lease of a killed process is waited out") {
    const clean_journal clean;
    other_process owner(terms("owner", 1s, 500ms));
    lease next(terms("next", 1s, 500ms));
    CHECK(next.try_take(primary_address()).what == lease_try::held);
    owner.kill_it();
    REQUIRE(test::take(next, primary_address()).what == lease_try::taken);
    CHECK(next.epoch() == 2);
    REQUIRE(integration::wait_until([&] {
        static_cast<void>(next.renew());
        return next.valid(lease::clock::now());
    }));
    auto session = test::superuser();
    CHECK(session.value("SELECT owner FROM pgweir.lease WHERE migration = 'groups'") == "next");
}

TEST_CASE("the lease of a process that hangs is torn from it") {
    const clean_journal clean;
    const other_process owner(terms("owner", 200ms, 100ms));
    owner.stop_it();
    lease next(terms("next", 200ms, 100ms));
    CHECK(next.try_take(primary_address()).what == lease_try::held);
    REQUIRE(test::take(next, primary_address()).what == lease_try::taken);
    CHECK(next.epoch() == 2);
}

TEST_CASE("after a failover the clock of the row is not believed") {
    const clean_journal clean;
    lease first(terms("first", 10s, 60s));
    REQUIRE(first.try_take(primary_address()).what == lease_try::taken);
    first.release(true);
    auto session = test::superuser();
    session.query("UPDATE pgweir.lease SET timeline = timeline + 1");
    const auto before = lease::clock::now();
    lease second(terms("second", 10s, 60s));
    REQUIRE(test::take(second, primary_address()).what == lease_try::taken);
    CHECK(second.writes_from() >= before + 70s);
}

TEST_CASE("a standby gives no lease") {
    const auto& servers = test::cluster::shared();
    lease own(terms("own", 10s, 60s));
    const auto result = own.try_take(test::address_of(servers, servers.nodes().at(1), "app"));
    CHECK(result.what == lease_try::standby);
    CHECK_FALSE(own.valid(lease::clock::now()));
}

TEST_CASE("a new owner's epoch waits for the old owner's open statements") {
    const clean_journal clean;
    lease first(terms("first", 500ms, 100ms));
    REQUIRE(first.try_take(primary_address()).what == lease_try::taken);
    auto writing = test::superuser();
    writing.query("BEGIN");
    writing.query("SELECT FROM pgweir.lease WHERE migration = 'groups' AND epoch = 1 FOR KEY SHARE"
    );
    // The owner's own renewal does not wait for it.
    CHECK_FALSE(first.renew().has_value());
    first.release(true);
    lease second(terms("second", 500ms, 100ms));
    const auto blocked = test::take(second, primary_address());
    CHECK(blocked.what == lease_try::failed);
    CHECK(blocked.text.find("statement timeout") != std::string::npos);
    writing.query("COMMIT");
    CHECK(test::take(second, primary_address()).what == lease_try::taken);
}

TEST_SUITE_END();

}  // namespace weir::migration
