#include "proxy/upstream/dial.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/socket_base.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <utility>
#include <vector>

namespace weir::proxy::upstream {
namespace {

using endpoint = asio::generic::stream_protocol::endpoint;

struct resolved {
    std::vector<endpoint> endpoints;
    std::string problem;
};

resolved unix_endpoint(const config::server& to) {
    resolved made;
    const auto path = to.host + "/.s.PGSQL." + std::to_string(to.port);
    if (path.size() >= sizeof(sockaddr_un{}.sun_path)) {
        made.problem = "the path of the Unix socket is too long: " + path;
    } else {
        made.endpoints.emplace_back(asio::local::stream_protocol::endpoint(path));
    }
    return made;
}

asio::awaitable<resolved>
resolve(asio::io_context& io, const config::server& to, time_limit& limit) {
    if (is_unix_host(to.host)) {
        co_return unix_endpoint(to);
    }
    resolved made;
    error_code parse_ec;
    const auto address = asio::ip::make_address(to.host, parse_ec);
    if (!parse_ec) {
        made.endpoints.emplace_back(asio::ip::tcp::endpoint(address, to.port));
        co_return made;
    }
    asio::ip::tcp::resolver resolver(io);
    const time_limit::step step(limit, [&resolver] { resolver.cancel(); });
    const auto service = std::to_string(to.port);
    const auto flags = asio::ip::resolver_base::numeric_service;
    const auto [resolve_ec, found] =
        co_await resolver.async_resolve(to.host, service, flags, use_tuple);
    if (resolve_ec) {
        made.problem = "the host's name cannot be resolved: " + resolve_ec.message();
        co_return made;
    }
    for (const auto& entry : found) {
        made.endpoints.emplace_back(entry.endpoint());
    }
    co_return made;
}

asio::awaitable<error_code> connect(socket& s, const endpoint& to, time_limit& limit) {
    error_code open_ec;
    s.open(to.protocol(), open_ec);
    if (open_ec) {
        co_return open_ec;
    }
    const time_limit::step step(limit, [&s] {
        error_code ignored;
        s.close(ignored);
    });
    const auto [connect_ec] = co_await s.async_connect(to, use_tuple);
    if (!connect_ec && !s.is_open()) {
        co_return asio::error::operation_aborted;
    }
    co_return connect_ec;
}

void set_options(socket& s) {
    error_code ignored;  // a Unix socket has no Nagle
    s.set_option(asio::ip::tcp::no_delay(true), ignored);
    s.set_option(asio::socket_base::keep_alive(true), ignored);
    // A server that has vanished without a word is noticed within a minute or so, waiting or
    // sending.
    constexpr int idle_seconds = 30;
    constexpr int probe_seconds = 10;
    constexpr int probes = 3;
    constexpr int unacknowledged_ms = 60'000;
    const auto set = [&s](int name, int value) {
        (void)::setsockopt(s.native_handle(), IPPROTO_TCP, name, &value, sizeof value);
    };
    set(TCP_KEEPIDLE, idle_seconds);
    set(TCP_KEEPINTVL, probe_seconds);
    set(TCP_KEEPCNT, probes);
    set(TCP_USER_TIMEOUT, unacknowledged_ms);
}

}  // namespace

bool is_unix_host(const std::string& host) noexcept {
    return host.starts_with('/');
}

asio::awaitable<dialled> dial(asio::io_context& io, const config::server& to, time_limit& limit) {
    dialled outcome;
    const auto places = co_await resolve(io, to, limit);
    outcome.problem = places.problem;
    for (const auto& place : places.endpoints) {
        if (limit.over()) {
            break;
        }
        socket s(io);
        const auto connect_ec = co_await connect(s, place, limit);
        if (!connect_ec) {
            set_options(s);
            outcome.problem.clear();
            outcome.stream = std::make_shared<weir::proxy::stream>(io, std::move(s));
            break;
        }
        outcome.problem = "cannot connect: " + connect_ec.message();
    }
    co_return outcome;
}

}  // namespace weir::proxy::upstream
