#include "proxy/sql_connection.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <string>

using namespace weir::proxy;
using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

// A listener that accepts and says nothing.
struct silent_server {
    asio::io_context io{1};
    tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), 0}};
    sql_connection sql{io};

    sql_target target() const {
        sql_target to;
        to.host = "127.0.0.1";
        to.port = acceptor.local_endpoint().port();
        to.user = "u";
        to.database = "d";
        return to;
    }

    std::string connect(sql_deadline deadline) {
        std::string error = "none";
        asio::co_spawn(
            io,
            sql.connect(target(), deadline),
            [&](std::exception_ptr failed, std::string text) {
                CHECK_FALSE(failed);
                error = std::move(text);
            }
        );
        io.run();
        return error;
    }
};

}  // namespace

TEST_SUITE_BEGIN("proxy.sql_connection");

TEST_CASE("one line of a message is kept without its severity") {
    CHECK(one_line("ERROR:  no such thing\nLINE 1: x\n") == "no such thing");
    CHECK(one_line("a \r\n") == "a");
    CHECK(one_line("FATAL:  x") == "x");
    CHECK(one_line("") == "");
    CHECK(one_line("\n") == "");
}

TEST_CASE("a server that says nothing is given up at the deadline") {
    silent_server server;
    CHECK(server.connect(std::chrono::steady_clock::now() + 30ms) == "timed out");
    CHECK_FALSE(server.sql.connected());
}

TEST_CASE("closing ends a log-in that is under way") {
    silent_server server;
    tcp::socket peer(server.io);
    server.acceptor.async_accept(peer, [&](const error_code& accept_ec) {
        CHECK_FALSE(accept_ec);
        server.sql.close();
    });
    CHECK(server.connect(std::chrono::steady_clock::now() + 1h) == "connection closed");
}

TEST_CASE("a name that does not resolve is an error that names it") {
    silent_server server;
    auto target = server.target();
    target.host = "no.such.host.invalid";
    std::string error;
    asio::co_spawn(
        server.io,
        server.sql.connect(target, std::chrono::steady_clock::now() + 1h),
        [&](std::exception_ptr failed, std::string text) {
            CHECK_FALSE(failed);
            error = std::move(text);
        }
    );
    server.io.run();
    CHECK(error.rfind("cannot resolve no.such.host.invalid: ", 0) == 0);
}

TEST_CASE("a question without a connection is an error") {
    silent_server server;
    std::string error;
    asio::co_spawn(
        server.io,
        server.sql.query("select 1", std::chrono::steady_clock::now() + 1h),
        [&](std::exception_ptr failed, sql_answer answer) {
            CHECK_FALSE(failed);
            error = answer.error;
        }
    );
    server.io.run();
    CHECK(error == "not connected");
}

TEST_SUITE_END();
