#include "proxy/monitor_watch.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace weir;
using namespace weir::proxy;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("proxy.monitor_watch");

TEST_CASE("pauses between attempts double up to two seconds and are never below the interval") {
    CHECK(retry_pause(200ms, 1) == 200ms);
    CHECK(retry_pause(200ms, 2) == 400ms);
    CHECK(retry_pause(200ms, 4) == 1600ms);
    CHECK(retry_pause(200ms, 5) == 2s);
    CHECK(retry_pause(200ms, 1000) == 2s);
    CHECK(retry_pause(10s, 1) == 10s);
    CHECK(retry_pause(10s, 7) == 10s);
}

TEST_CASE("an answer has two seconds or five intervals") {
    CHECK(answer_limit(200ms) == 2s);
    CHECK(answer_limit(1s) == 5s);
}

TEST_CASE("a refused connection is one error line at once and again when hurried") {
    asio::io_context io{1};
    // A port that is surely closed: it was free, and nobody listens on it.
    asio::ip::tcp::acceptor bound(io);
    bound.open(asio::ip::tcp::v4());
    bound.bind({asio::ip::address_v4::loopback(), 0});
    config::cluster cluster;
    cluster.monitor.interval = 1h;
    config::server server;
    server.host = "127.0.0.1";
    server.port = bound.local_endpoint().port();
    cluster.servers.push_back(server);

    std::vector<std::string> errors;
    std::shared_ptr<server_watch> watch;
    watch_events events{
        .asked = [] {},
        .answered =
            [&](const routing::server_sample& sample) {
                errors.push_back(sample.error);
                CHECK(sample.taken != routing::steady_time{});
                if (errors.size() == 2) {
                    watch->stop();
                } else {
                    watch->hurry();
                }
            },
        .wants_heartbeat = [] { return false; },
        .heartbeat_written = [] {},
    };
    watch = std::make_shared<server_watch>(io, cluster, cluster.servers[0], events);
    watch->start();
    io.run();
    REQUIRE(errors.size() == 2);
    CHECK(errors[0].find("Connection refused") != std::string::npos);
    CHECK(errors[0].find('\n') == std::string::npos);
    CHECK(errors[1] == errors[0]);
}

TEST_SUITE_END();
