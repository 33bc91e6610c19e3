// How many connections a pool has, and who gets them: sizes, order of waiting, limits of waiting.
#include "tests/integration/state_tools.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace weir::integration {

TEST_SUITE_BEGIN("integration.pool_limits");

namespace {

// Clients that connect, ask a few times and leave, until the end.
class crowd {
public:
    crowd(const endpoint& at, const login& as, std::size_t clients) {
        for (std::size_t i = 0; i < clients; ++i) {
            threads_.emplace_back([this, at, as] {
                try {
                    while (!end_) {
                        visit(at, as);
                    }
                } catch (const std::exception&) {
                    ++failures_;
                }
            });
        }
    }

    void end() {
        end_ = true;
        threads_.clear();
    }

    [[nodiscard]] int failures() const { return failures_; }

    [[nodiscard]] int answers() const { return answers_; }

private:
    void visit(const endpoint& at, const login& as) {
        pq_connection client(at, as);
        for (int i = 0; i < 20 && !end_; ++i) {
            client.query("select pg_sleep(0.001)");
            ++answers_;
        }
    }

    std::atomic<bool> end_ = false;
    std::atomic<int> failures_ = 0;
    std::atomic<int> answers_ = 0;
    std::vector<std::jthread> threads_;
};

}  // namespace

TEST_CASE("the size of a pool is never exceeded") {
    auto& servers = cluster::shared();
    REQUIRE(wait_until([&] { return sessions_on_server(servers) == 0; }));
    for (const unsigned workers : {1U, 2U}) {
        for (const int size : {1, 4}) {
            CAPTURE(workers);
            CAPTURE(size);
            proxy_process proxy(
                servers,
                one_server("{size: " + std::to_string(size) + "}", workers)
            );
            crowd clients(proxy.at(), login_as(servers), 50);
            auto direct = superuser(servers);
            const int samples = long_form() ? 3000 : 200;
            int most = 0;
            for (int i = 0; i < samples || clients.answers() < 500; ++i) {
                most = std::max(
                    most,
                    std::stoi(
                        direct.value("select count(*) from pg_stat_activity where usename = 'app'")
                    )
                );
            }
            clients.end();
            CHECK(most == size);
            CHECK(clients.failures() == 0);
        }
    }
}

TEST_CASE("with two workers every client gets its turn from a pool of one") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}", 2));
    // Eight clients: the kernel spreads them over both workers.
    std::vector<pq_connection> clients;
    for (int i = 0; i < 8; ++i) {
        clients.emplace_back(proxy.at(), login_as(servers));
    }
    for (int round = 0; round < 50; ++round) {
        for (auto& each : clients) {
            start(each, "select 1");
        }
        for (auto& each : clients) {
            CHECK(receive(each).at(0, 0) == "1");
        }
    }
    CHECK(sessions_on_server(servers) == 1);
}

TEST_CASE("waiting clients are served in the order they came") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection holder(proxy.at(), login_as(servers));
    std::vector<pq_connection> clients;
    for (int i = 0; i < 5; ++i) {
        clients.emplace_back(proxy.at(), login_as(servers));
    }
    prepare(
        servers,
        {"drop sequence if exists pool_order",
         "create sequence pool_order",
         "grant all on sequence pool_order to public"}
    );
    for (int round = 0; round < 5; ++round) {
        holder.query("begin");
        for (std::size_t i = 0; i < clients.size(); ++i) {
            start(clients[(i * 3) % clients.size()], "select nextval('pool_order')");
            REQUIRE(wait_until([&] { return waiting_clients(proxy) == static_cast<int>(i) + 1; }));
        }
        holder.query("commit");
        for (std::size_t i = 0; i < clients.size(); ++i) {
            const auto answer = receive(clients[(i * 3) % clients.size()]);
            CHECK(answer.at(0, 0) == std::to_string(static_cast<std::size_t>(round) * 5 + i + 1));
        }
    }
}

TEST_CASE("queue_timeout gives 53300 with a hint and nothing worse") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1, queue_timeout: 300ms}"));
    pq_connection holder(proxy.at(), login_as(servers));
    pq_connection one(proxy.at(), login_as(servers));
    holder.query("begin");
    const auto late = one.try_query("select 1");
    CHECK(late.code() == "53300");
    CHECK(late.message().find("queue_timeout") != std::string::npos);
    CHECK(late.message().find("HINT:  Raise pool.size") != std::string::npos);
    CHECK(one.try_query("select $1::int", {"1"}).code() == "53300");
    CHECK(code_of(one, "begin") == "53300");
    CHECK(PQtransactionStatus(one.get()) == PQTRANS_IDLE);
    holder.query("commit");
    CHECK(one.value("select 2") == "2");
    CHECK(one.query("select $1::int", {"3"}).at(0, 0) == "3");
}

TEST_CASE("max_waiting refuses the next one at once and keeps the others") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1, max_waiting: 2}"));
    pq_connection holder(proxy.at(), login_as(servers));
    pq_connection first(proxy.at(), login_as(servers));
    pq_connection second(proxy.at(), login_as(servers));
    pq_connection third(proxy.at(), login_as(servers));
    holder.query("begin");
    start(first, "select 1");
    start(second, "select 2");
    REQUIRE(wait_until([&] { return waiting_clients(proxy) == 2; }));
    const auto refused = third.try_query("select 3");
    CHECK(refused.code() == "53300");
    CHECK(refused.message().find("pool.max_waiting") != std::string::npos);
    holder.query("commit");
    CHECK(receive(first).at(0, 0) == "1");
    CHECK(receive(second).at(0, 0) == "2");
    CHECK(third.value("select 3") == "3");
}

TEST_CASE("a client that dies in the queue leaves its place") {
    auto& servers = cluster::shared();
    proxy_process proxy(servers, one_server("{size: 1}"));
    pq_connection holder(proxy.at(), login_as(servers));
    pq_connection dying(proxy.at(), login_as(servers));
    pq_connection behind(proxy.at(), login_as(servers));
    holder.query("begin");
    start(dying, "select 1");
    REQUIRE(wait_until([&] { return waiting_clients(proxy) == 1; }));
    start(behind, "select 2");
    REQUIRE(wait_until([&] { return waiting_clients(proxy) == 2; }));
    vanish(dying);
    CHECK(wait_until([&] { return waiting_clients(proxy) == 1; }));
    holder.query("commit");
    CHECK(receive(behind).at(0, 0) == "2");
}

TEST_CASE("max_clients refuses with 53300 and lets others in when one leaves") {
    auto& servers = cluster::shared();
    auto options = one_server("{size: 1}");
    options.listen = "max_clients: 3";
    proxy_process proxy(servers, options);
    pq_connection first(proxy.at(), login_as(servers));
    pq_connection second(proxy.at(), login_as(servers));
    {
        pq_connection third(proxy.at(), login_as(servers));
        const auto refused = pq_connection::try_connect(proxy.at(), login_as(servers));
        CHECK_FALSE(refused.ok());
        CHECK(refused.error().find("too many clients") != std::string::npos);
    }
    CHECK(wait_until([&] { return pq_connection::try_connect(proxy.at(), login_as(servers)).ok(); })
    );
    CHECK(first.value("select 1") == "1");
    CHECK(second.value("select 1") == "1");
}

TEST_SUITE_END();

}  // namespace weir::integration
