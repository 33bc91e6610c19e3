// Under load every client gets its own answers and nobody else's, whatever others do to their
// connections.
#include "tests/integration/support/proxy_process.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

using namespace weir::integration;

namespace {

milliseconds duration() {
    return long_form() ? milliseconds(300s) : milliseconds(10s);
}

// Threads that run until the time is up; the first exception is the failure of the test.
class crowd {
public:
    explicit crowd(milliseconds length) : until_(std::chrono::steady_clock::now() + length) {}

    [[nodiscard]] bool on() const { return std::chrono::steady_clock::now() < until_ && !failed_; }

    void add(std::function<void()> work) {
        threads_.emplace_back([this, work = std::move(work)] {
            try {
                work();
            } catch (const std::exception& error) {
                const std::lock_guard guard(mutex_);
                failure_ = failure_.empty() ? error.what() : failure_;
                failed_ = true;
            }
        });
    }

    // Waits for all of them; what went wrong.
    std::string join() {
        threads_.clear();
        return failure_;
    }

private:
    time_point until_;
    std::atomic<bool> failed_ = false;
    std::mutex mutex_;
    std::string failure_;
    std::vector<std::jthread> threads_;
};

void expect_row(const messages& came, const std::string& expected, const std::string& token) {
    std::string row;
    for (const auto& each : came) {
        if (each.type == 'D') {
            row = each.column(0).value_or("");
        }
    }
    if (kinds(came) != expected || row != token) {
        throw std::runtime_error("expected " + expected + " " + token + ", got " + details(came));
    }
}

// One client of the token test: unnamed and named statements by turns.
unsigned long token_client(const crowd& all, const endpoint& to, const login& as, unsigned number) {
    wire_client client(to, as);
    const std::string text = "select $1::text, pg_sleep(random()*0.01)";
    const auto name = "token" + std::to_string(number % 5);
    unsigned long answers = 0;
    client.ask(script().parse(name, text + " -- " + name).sync());
    while (all.on()) {
        const auto token = std::to_string(number) + "/" + std::to_string(answers);
        const bool named = answers % 2 == 0;
        script unit;
        if (!named) {
            unit.parse("", text);
        }
        unit.bind("", named ? name : "", {token}).describe_portal("").execute().sync();
        expect_row(client.ask(unit), named ? "2 T D C Z(I)" : "1 2 T D C Z(I)", token);
        ++answers;
    }
    return answers;
}

// Connects, sends some of a unit, reads some of the answer, and is gone.
void chaos_client(const crowd& all, const endpoint& to, const login& as, unsigned seed) {
    std::mt19937 random(seed);
    const std::string text = "select 'foreign', repeat('Z', 1000000), pg_sleep(random()*0.01)";
    const auto whole = script().extended(text).query(text).bytes();
    const std::vector<std::string> beginnings = {
        script().parse("", text).bytes(),
        script().parse("", text).bind("", "").execute().bytes(),
        script().parse("", text).bind("", "").execute().flush().bytes(),
        script().parse("token1", "select 'foreign'").bytes(),
        script().query("begin").query(text).bytes(),
        script().query("begin").raw(script().bind("", "none").bytes()).bytes(),
        script().query("copy (select 'foreign' from generate_series(1, 100000)) to stdout").bytes(),
        whole,
        whole.substr(0, 40),
        whole.substr(0, whole.size() - 3)};
    while (all.on()) {
        wire_client client(to, as);
        client.send(beginnings[random() % beginnings.size()]);
        switch (random() % 4) {
        case 0: break;
        case 1:
            try {
                static_cast<void>(read_some(
                    client.socket(),
                    5000,
                    std::chrono::steady_clock::now() + milliseconds(random() % 40)
                ));
            } catch (const std::runtime_error&) {
                // Nothing in time; fine.
            }
            break;
        case 2: client.send(script().terminate()); break;
        default: std::this_thread::sleep_for(milliseconds(random() % 30));
        }
        if (random() % 2 == 0) {
            client.reset();
        }
    }
}

// Timeouts, cancels and notices. Returns how many of its statements were canceled.
unsigned long
disturbed_client(const crowd& all, const endpoint& to, const login& as, unsigned number) {
    wire_client client(to, as);
    std::mt19937 random(number);
    unsigned long canceled = 0;
    for (unsigned round = 0; all.on(); ++round) {
        const auto token = std::to_string(number) + "/" + std::to_string(round);
        const bool slow = random() % 10 == 0;
        script unit;
        const auto sleep = std::string(slow ? "pg_sleep(0.5)" : "pg_sleep(random()*0.01)");
        const auto text = "select '" + token + "', " + sleep;
        const auto way = random() % 3;
        if (way == 0) {
            unit.query("do $$ begin for i in 1..5 loop raise notice 'n %', i; end loop; end $$");
        }
        way == 1 ? unit.query(text) : unit.extended(text);
        client.send(unit);
        if (slow && random() % 2 == 0) {
            std::this_thread::sleep_for(milliseconds(random() % 20));
            client.cancel(to);
        }
        auto came = client.read_ready(way == 0 ? 2 : 1);
        if (way == 0) {
            const auto first = kinds(came);
            if (first.rfind("N N N N N C Z(I) ", 0) == 0) {
                came.erase(came.begin(), came.begin() + 7);
            } else {
                // The cancel was quicker than the notices.
                while (came.front().type != 'Z') {
                    came.erase(came.begin());
                }
                came.erase(came.begin());
            }
        }
        if (came.size() >= 2 && came[came.size() - 2].kind() == "E(57014)") {
            ++canceled;
            continue;
        }
        expect_row(came, way == 1 ? "T D C Z(I)" : "1 2 T D C Z(I)", token);
    }
    const auto surplus = client.read_quiet(50ms);
    if (!surplus.empty()) {
        throw std::runtime_error("more than was asked for: " + kinds(surplus));
    }
    return canceled;
}

}  // namespace

TEST_SUITE_BEGIN("integration.wire_mixup");

TEST_CASE("B01 nobody gets another client's rows") {
    auto& servers = cluster::shared();
    for (const unsigned workers : {1, 2}) {
        CAPTURE(workers);
        proxy_options options;
        options.primary_only = true;
        options.workers = workers;
        options.pool = "{size: 2}";
        proxy_process proxy(servers, options);
        crowd all(duration() / 2);
        std::atomic<unsigned long> answers = 0;
        for (unsigned i = 0; i < 50; ++i) {
            all.add([&, i] { answers += token_client(all, proxy.at(), login_as(servers), i); });
        }
        for (unsigned i = 0; i < 2; ++i) {
            all.add([&, i] { chaos_client(all, proxy.at(), login_as(servers), i); });
        }
        CHECK(all.join() == "");
        CHECK(answers > 50);
        CHECK(wait_until([&] { return proxy.idle(); }));
        CHECK(proxy.metric("pgweir_clients") == 0);
        CHECK(proxy.metric("pgweir_server_connections", {{"server", "n1"}}) <= 2);
    }
}

TEST_CASE("B02 time-outs and cancels and notices shift nothing") {
    auto& servers = cluster::shared();
    for (const unsigned workers : {1, 2}) {
        CAPTURE(workers);
        proxy_options options;
        options.primary_only = true;
        options.workers = workers;
        options.pool = "{size: 3}";
        proxy_process proxy(servers, options);
        crowd all(duration() / 2);
        std::atomic<unsigned long> canceled = 0;
        for (unsigned i = 0; i < 20; ++i) {
            all.add([&, i] { canceled += disturbed_client(all, proxy.at(), login_as(servers), i); }
            );
        }
        for (unsigned i = 20; i < 30; ++i) {
            all.add([&, i] {
                auto as = login_as(servers);
                wire_client limited(proxy.at());
                const auto came = limited.log_in(as, {{"statement_timeout", "20ms"}});
                if (came.back().type != 'Z') {
                    throw std::runtime_error(details(came));
                }
                for (unsigned round = 0; all.on(); ++round) {
                    const bool slow = round % 5 == i % 5;
                    const auto token = std::to_string(i) + "/" + std::to_string(round);
                    const auto text = "select '" + token + "'" + (slow ? ", pg_sleep(1)" : "");
                    const auto got = limited.ask(script().query(text));
                    if (slow ? kinds(got) != "T E(57014) Z(I)" && kinds(got) != "E(57014) Z(I)"
                             : got.size() < 2 || got[got.size() - 2].code() != "57014") {
                        expect_row(got, "T D C Z(I)", token);
                    }
                }
            });
        }
        CHECK(all.join() == "");
        CHECK(canceled > 0);
        CHECK(wait_until([&] { return proxy.idle(); }));
    }
}

TEST_SUITE_END();
