#include "proxy/http/server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>

#include <list>
#include <utility>

namespace weir::proxy {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

using request_parser = http::request_parser<http::empty_body>;
using response = http::response<http::string_body>;

response answer(unsigned status, unsigned version, bool keep_alive) {
    response made(static_cast<http::status>(status), version);
    made.set(http::field::server, "pgweir");
    made.set(http::field::cache_control, "no-store");
    made.set("X-Content-Type-Options", "nosniff");
    made.keep_alive(keep_alive);
    return made;
}

response answer_to(const http::request<http::empty_body>& asked, const http_sources& sources) {
    const bool head = asked.method() == http::verb::head;
    if (!head && asked.method() != http::verb::get) {
        auto refusal = answer(405, asked.version(), false);
        refusal.set(http::field::allow, "GET, HEAD");
        refusal.prepare_payload();
        return refusal;
    }
    auto shown = page_for({asked.target().data(), asked.target().size()}, sources);
    auto made = answer(shown.status, asked.version(), asked.keep_alive());
    made.set(http::field::content_type, shown.type);
    made.content_length(shown.body.size());
    if (!head) {
        made.body() = std::move(shown.body);
    }
    return made;
}

// What a request that could not be read is told; 0: nothing.
unsigned status_for(const error_code& read_ec) {
    if (read_ec == http::error::header_limit) {
        return 431;
    }
    if (read_ec == http::error::body_limit || read_ec == http::error::unexpected_body) {
        return 413;
    }
    const bool malformed =
        read_ec.category() == make_error_code(http::error::bad_method).category() &&
        read_ec != http::error::end_of_stream && read_ec != http::error::partial_message;
    return malformed ? 400 : 0;
}

asio::awaitable<error_code> send(beast::tcp_stream& stream, response& message) {
    http::response_serializer<http::string_body> serializer(message);
    const auto [write_ec, n] = co_await http::async_write(stream, serializer, use_tuple);
    co_return write_ec;
}

// The requests of one connection, until either side wants no more.
asio::awaitable<void>
converse(beast::tcp_stream& stream, const http_sources& sources, const http_limits& limits) {
    beast::flat_buffer buffer(limits.header_bytes + 1024);
    auto patience = limits.request;
    bool more = true;
    while (more) {
        request_parser parser;
        parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
        parser.body_limit(0);
        stream.expires_after(patience);
        const auto [read_ec, n] = co_await http::async_read(stream, buffer, parser, use_tuple);
        response message;
        if (!read_ec) {
            message = answer_to(parser.get(), sources);
        } else if (const auto status = status_for(read_ec); status != 0) {
            message = answer(status, 11, false);
            message.prepare_payload();
        } else {
            co_return;
        }
        stream.expires_after(limits.request);
        const auto write_ec = co_await send(stream, message);
        more = !write_ec && message.keep_alive();
        patience = limits.idle;
    }
    error_code ignored;
    stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

using connection_list = std::list<beast::tcp_stream>;

// Takes its connection out of the list however the conversation ends.
class listed {
public:
    listed(connection_list& in, connection_list::iterator at) : in_(in), at_(at) {}

    listed(const listed&) = delete;
    listed& operator=(const listed&) = delete;

    ~listed() { in_.erase(at_); }

    [[nodiscard]] beast::tcp_stream& stream() noexcept { return *at_; }

private:
    connection_list& in_;
    connection_list::iterator at_;
};

}  // namespace

struct http_server::state {
    state(asio::io_context& context, http_sources from, http_limits limit)
        : io(context), acceptor(context), sources(std::move(from)), limits(limit) {}

    asio::io_context& io;
    tcp::acceptor acceptor;
    http_sources sources;
    http_limits limits;
    connection_list connections;

    static asio::awaitable<void>
    serve(std::shared_ptr<state> self, connection_list::iterator connection) {
        listed mine(self->connections, connection);
        co_await converse(mine.stream(), self->sources, self->limits);
    }

    static asio::awaitable<void> accept(std::shared_ptr<state> self) {
        asio::steady_timer pause(self->io);
        while (self->acceptor.is_open()) {
            auto [accept_ec, peer] = co_await self->acceptor.async_accept(use_tuple);
            if (accept_ec == asio::error::operation_aborted) {
                co_return;
            }
            if (accept_ec) {
                // Most likely out of descriptors: asking again at once would only burn time.
                pause.expires_after(std::chrono::milliseconds{100});
                co_await pause.async_wait(use_tuple);
                continue;
            }
            if (self->connections.size() >= self->limits.connections) {
                continue;  // closes `peer`
            }
            const auto added = self->connections.emplace(self->connections.end(), std::move(peer));
            asio::co_spawn(self->io, serve(self, added), asio::detached);
        }
    }
};

http_server::http_server(asio::io_context& io, http_sources sources, http_limits limits)
    : state_(std::make_shared<state>(io, std::move(sources), limits)) {}

http_server::~http_server() {
    stop();
}

error_code http_server::listen(const std::string& address, std::uint16_t port) {
    error_code ec;
    const auto ip = asio::ip::make_address(address, ec);
    if (ec) {
        return ec;
    }
    auto& acceptor = state_->acceptor;
    const tcp::endpoint endpoint(ip, port);
    acceptor.open(endpoint.protocol(), ec);
    if (!ec) {
        acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
    }
    if (!ec) {
        acceptor.bind(endpoint, ec);
    }
    if (!ec) {
        acceptor.listen(asio::socket_base::max_listen_connections, ec);
    }
    if (ec) {
        error_code ignored;
        acceptor.close(ignored);
        return ec;
    }
    asio::co_spawn(state_->io, state::accept(state_), asio::detached);
    return {};
}

std::uint16_t http_server::port() const {
    error_code ignored;
    return state_->acceptor.local_endpoint(ignored).port();
}

void http_server::stop() {
    error_code ignored;
    state_->acceptor.close(ignored);
    for (auto& connection : state_->connections) {
        connection.close();
    }
}

}  // namespace weir::proxy
