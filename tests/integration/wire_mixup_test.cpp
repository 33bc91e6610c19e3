// Under load every client gets its own answers and nobody else's, whatever others do to their
// connections.
#include "tests/integration/support/proxy_process.hpp"
#include "tests/integration/support/wait.hpp"
#include "tests/integration/support/wire_client.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

namespace weir::integration {
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

constexpr std::string_view noisy =
    "do $$ begin for i in 1..5 loop raise notice 'n %', i; end loop; end $$";

// Takes the answer to `noisy` away: complete, or cut short by a cancel.
void drop_noise(messages& came) {
    while (came.front().type != 'Z') {
        if (std::string_view("NCE").find(came.front().type) == std::string_view::npos) {
            throw std::runtime_error("among the notices: " + kinds(came));
        }
        came.erase(came.begin());
    }
    came.erase(came.begin());
}

bool was_canceled(const messages& came) {
    return came.size() >= 2 && came[came.size() - 2].code() == "57014";
}

// Slow statements that are canceled or not, and notices in between. Returns how many were canceled.
unsigned long
disturbed_client(const crowd& all, const endpoint& to, const login& as, unsigned number) {
    wire_client client(to, as);
    std::mt19937 random(number);
    unsigned long canceled = 0;
    for (unsigned round = 0; all.on(); ++round) {
        const auto token = std::to_string(number) + "/" + std::to_string(round);
        const bool slow = random() % 10 == 0;
        const bool simple = random() % 2 == 0;
        const bool noise = random() % 3 == 0;
        const auto text =
            "select '" + token + (slow ? "', pg_sleep(0.5)" : "', pg_sleep(random()*0.01)");
        script unit;
        if (noise) {
            unit.query(noisy);
        }
        client.send(simple ? unit.query(text) : unit.extended(text));
        if (slow && random() % 2 == 0) {
            std::this_thread::sleep_for(milliseconds(random() % 20));
            client.cancel(to);
        }
        auto came = client.read_ready(noise ? 2 : 1);
        if (noise) {
            drop_noise(came);
        }
        if (was_canceled(came)) {
            ++canceled;
            continue;
        }
        expect_row(came, simple ? "T D C Z(I)" : "1 2 T D C Z(I)", token);
    }
    const auto surplus = client.read_quiet(50ms);
    if (!surplus.empty()) {
        throw std::runtime_error("more than was asked for: " + kinds(surplus));
    }
    return canceled;
}

// A client whose every fifth statement is longer than its time limit.
void limited_client(const crowd& all, const endpoint& to, const login& as, unsigned number) {
    wire_client client(to);
    const auto came = client.log_in(as, {{"statement_timeout", "20ms"}});
    if (came.back().type != 'Z') {
        throw std::runtime_error(details(came));
    }
    for (unsigned round = 0; all.on(); ++round) {
        const bool slow = round % 5 == number % 5;
        const auto token = std::to_string(number) + "/" + std::to_string(round);
        const auto text = "select '" + token + "'" + (slow ? ", pg_sleep(1)" : "");
        const auto got = client.ask(script().query(text));
        if (!was_canceled(got)) {
            expect_row(got, "T D C Z(I)", slow ? "canceled" : token);
        }
    }
}

proxy_options pool_of(unsigned size, unsigned workers) {
    proxy_options options;
    options.primary_only = true;
    options.workers = workers;
    options.pool = "{size: " + std::to_string(size) + "}";
    return options;
}

void token_test(unsigned workers) {
    auto& servers = cluster::shared();
    const auto as = login_as(servers);
    proxy_process proxy(servers, pool_of(2, workers));
    crowd all(duration() / 2);
    std::atomic<unsigned long> answers = 0;
    for (unsigned i = 0; i < 50; ++i) {
        all.add([&, i] { answers += token_client(all, proxy.at(), as, i); });
    }
    for (unsigned i = 0; i < 2; ++i) {
        all.add([&, i] { chaos_client(all, proxy.at(), as, i); });
    }
    CHECK(all.join() == "");
    CHECK(answers > 50);
    CHECK(wait_until([&] { return proxy.idle(); }));
    CHECK(proxy.metric("pgweir_clients") == 0);
    // Each worker reports its own count from time to time, so the sum settles only afterwards.
    CHECK(wait_until([&] {
        return proxy.metric("pgweir_server_connections", {{"server", "n1"}}) <= 2;
    }));
}

void disturbance_test(unsigned workers) {
    auto& servers = cluster::shared();
    const auto as = login_as(servers);
    proxy_process proxy(servers, pool_of(3, workers));
    crowd all(duration() / 2);
    std::atomic<unsigned long> canceled = 0;
    for (unsigned i = 0; i < 20; ++i) {
        all.add([&, i] { canceled += disturbed_client(all, proxy.at(), as, i); });
    }
    for (unsigned i = 20; i < 30; ++i) {
        all.add([&, i] { limited_client(all, proxy.at(), as, i); });
    }
    CHECK(all.join() == "");
    CHECK(canceled > 0);
    CHECK(wait_until([&] { return proxy.idle(); }));
}

}  // namespace

TEST_SUITE_BEGIN("integration.wire_mixup");

TEST_CASE("B01 nobody gets another client's rows") {
    token_test(1);
}

TEST_CASE("B01 nobody gets another client's rows from two workers") {
    token_test(2);
}

TEST_CASE("B02 time-outs and cancels and notices shift nothing") {
    disturbance_test(1);
}

TEST_CASE("B02 time-outs and cancels and notices shift nothing with two workers") {
    disturbance_test(2);
}

TEST_SUITE_END();

}  // namespace weir::integration
