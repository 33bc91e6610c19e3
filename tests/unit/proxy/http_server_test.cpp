#include "proxy/http/server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <doctest/doctest.h>

#include <exception>
#include <string>
#include <tuple>

using namespace weir::proxy;
using asio::ip::tcp;

namespace {

http_sources some_sources() {
    return {
        .metrics = [] { return std::string("a 1\n"); },
        .ready =
            [] {
                return readiness{{{"main", true, true}}};
            },
    };
}

struct fixture {
    asio::io_context io{1};
    http_server server;

    explicit fixture(http_limits limits = {}) : server(io, some_sources(), limits) {
        REQUIRE_FALSE(server.listen("127.0.0.1", 0));
    }

    // What the server sends until it closes, in answer to `bytes`.
    asio::awaitable<std::string> ask(std::string bytes) {
        tcp::socket peer(io);
        const tcp::endpoint there(asio::ip::address_v4::loopback(), server.port());
        const auto outcome = co_await peer.async_connect(there, use_tuple);
        CHECK_FALSE(std::get<0>(outcome));
        // A refusal may come, and the connection close, before everything is sent: the answer
        // counts.
        co_await asio::async_write(peer, asio::buffer(bytes), use_tuple);
        std::string got;
        auto into = asio::dynamic_buffer(got);
        co_await asio::async_read(peer, into, use_tuple);
        co_return got;
    }

    std::string exchange(const std::string& bytes) {
        std::string got;
        asio::co_spawn(io, ask(bytes), [&](std::exception_ptr failed, std::string text) {
            CHECK_FALSE(failed);
            got = std::move(text);
            server.stop();
        });
        io.run();
        return got;
    }
};

std::string first_line(const std::string& text) {
    return text.substr(0, text.find("\r\n"));
}

std::string body(const std::string& text) {
    const auto end = text.find("\r\n\r\n");
    return end == std::string::npos ? "" : text.substr(end + 4);
}

}  // namespace

TEST_SUITE_BEGIN("proxy.http_server");

TEST_CASE("a page is served and the connection closed when asked to") {
    const auto got =
        fixture().exchange("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    CHECK(first_line(got) == "HTTP/1.1 200 OK");
    CHECK(body(got) == "a 1\n");
}

TEST_CASE("requests follow each other on one connection") {
    const auto got = fixture().exchange(
        "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        "GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    );
    CHECK(first_line(got) == "HTTP/1.1 200 OK");
    CHECK(got.find("HTTP/1.1 404 Not Found\r\n") != std::string::npos);
}

TEST_CASE("HEAD has the length and no body") {
    const auto got = fixture().exchange("HEAD /metrics HTTP/1.0\r\n\r\n");
    CHECK(first_line(got) == "HTTP/1.0 200 OK");
    CHECK(got.find("Content-Length: 4\r\n") != std::string::npos);
    CHECK(body(got).empty());
}

TEST_CASE("other methods and bodies are refused") {
    CHECK(
        first_line(fixture().exchange("DELETE /metrics HTTP/1.1\r\nHost: x\r\n\r\n")) ==
        "HTTP/1.1 405 Method Not Allowed"
    );
    CHECK(
        first_line(fixture().exchange("GET /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde")) ==
        "HTTP/1.1 413 Payload Too Large"
    );
}

TEST_CASE("what is no HTTP is told so") {
    CHECK(first_line(fixture().exchange("nonsense\r\n\r\n")) == "HTTP/1.1 400 Bad Request");
}

TEST_CASE("a header beyond the limit is refused") {
    http_limits limits;
    limits.header_bytes = 256;
    const auto got =
        fixture(limits).exchange("GET / HTTP/1.1\r\nX: " + std::string(1000, 'x') + "\r\n\r\n");
    CHECK(first_line(got) == "HTTP/1.1 431 Request Header Fields Too Large");
}

TEST_CASE("a connection too many is closed without an answer") {
    http_limits limits;
    limits.connections = 0;
    CHECK(fixture(limits).exchange("GET /healthz HTTP/1.1\r\n\r\n").empty());
}

TEST_CASE("a request that does not come in time ends the connection") {
    http_limits limits;
    limits.request = std::chrono::milliseconds{20};
    CHECK(fixture(limits).exchange("GET /healthz HT").empty());
}

TEST_CASE("an address that is none is an error") {
    asio::io_context io;
    http_server server(io, some_sources());
    CHECK(server.listen("no address", 0));
    server.stop();
}

TEST_SUITE_END();
