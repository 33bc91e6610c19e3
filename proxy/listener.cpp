// Accepting clients: every worker has its own TCP acceptor on the same port; the Unix socket is
// worker 0's, which hands the connections round.
#include "proxy/client/session.hpp"
#include "proxy/worker.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

namespace weir::proxy {
namespace {

using namespace std::chrono_literals;

using reuse_port = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

// Beyond max_clients there is room for those who are about to be told so.
constexpr std::uint32_t refusals_max = 256;
constexpr auto accept_pause = 100ms;

asio::awaitable<void> run_session(std::shared_ptr<client::session> one) {
    co_await one->run();
}

void session_ended(std::uint64_t id, const std::exception_ptr& error) {
    if (!error) {
        return;
    }
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& what) {
        spdlog::error("client {} ended by an exception: {}", id, what.what());
    }
}

}  // namespace

void worker::listen() {
    const auto& where = config->listen;
    error_code ec;
    const auto address = asio::ip::make_address(where.address, ec);
    if (ec) {
        throw std::runtime_error("listen.address " + where.address + ": " + ec.message());
    }
    const asio::ip::tcp::endpoint endpoint(address, where.port);
    try {
        tcp_.open(endpoint.protocol());
        tcp_.set_option(asio::socket_base::reuse_address(true));
        tcp_.set_option(reuse_port(true));
        tcp_.bind(endpoint);
        tcp_.listen(1024);
    } catch (const std::exception& what) {
        throw std::runtime_error(
            "cannot listen on " + where.address + ":" + std::to_string(where.port) + ": " +
            what.what()
        );
    }
    asio::co_spawn(io, accept_tcp(), asio::detached);
    if (index != 0 || where.unix_socket.empty()) {
        return;
    }
    const auto path = where.unix_socket + "/.s.PGSQL." + std::to_string(where.port);
    ::unlink(path.c_str());
    unix_ = std::make_unique<asio::basic_socket_acceptor<asio::generic::stream_protocol>>(io);
    const asio::local::stream_protocol::endpoint local(path);
    try {
        unix_->open(asio::generic::stream_protocol(AF_UNIX, 0));
        unix_->bind(local);
        unix_->listen(1024);
    } catch (const std::exception& what) {
        throw std::runtime_error("cannot listen on " + path + ": " + what.what());
    }
    ::chmod(path.c_str(), 0777);
    asio::co_spawn(io, accept_unix(), asio::detached);
}

asio::awaitable<void> worker::accept_tcp() {
    while (tcp_.is_open()) {
        asio::ip::tcp::endpoint from;
        asio::ip::tcp::socket accepted(io);
        const auto [accept_ec] = co_await tcp_.async_accept(accepted, from, use_tuple);
        if (accept_ec == asio::error::operation_aborted) {
            co_return;
        }
        if (accept_ec) {
            // Out of descriptors, most likely: others must be given time to end.
            spdlog::warn("accepting a client failed: {}", accept_ec.message());
            asio::steady_timer pause(io, accept_pause);
            const auto [pause_ec] = co_await pause.async_wait(use_tuple);
            (void)pause_ec;
            continue;
        }
        error_code ignored;
        accepted.set_option(asio::ip::tcp::no_delay(true), ignored);
        accepted.set_option(asio::socket_base::keep_alive(true), ignored);
        serve_socket(
            socket(std::move(accepted)),
            {.text = from.address().to_string() + ":" + std::to_string(from.port()),
             .ip = from.address().to_string(),
             .local = false}
        );
    }
}

asio::awaitable<void> worker::accept_unix() {
    while (unix_->is_open()) {
        socket accepted(io);
        const auto [accept_ec] = co_await unix_->async_accept(accepted, use_tuple);
        if (accept_ec == asio::error::operation_aborted) {
            co_return;
        }
        if (accept_ec) {
            spdlog::warn("accepting a client failed: {}", accept_ec.message());
            asio::steady_timer pause(io, accept_pause);
            const auto [pause_ec] = co_await pause.async_wait(use_tuple);
            (void)pause_ec;
            continue;
        }
        const auto handle = accepted.release();
        auto* const next = shared.all[next_worker_++ % shared.all.size()];
        next->post([next, handle] {
            socket moved(next->io);
            error_code assign_ec;
            moved.assign(asio::generic::stream_protocol(AF_UNIX, 0), handle, assign_ec);
            if (assign_ec) {
                ::close(handle);
                return;
            }
            next->serve_socket(std::move(moved), {.text = "unix", .ip = {}, .local = true});
        });
    }
}

void worker::serve_socket(socket&& accepted, client::peer_address address) {
    if (stopping_ || shared.clients.load(std::memory_order_relaxed) >=
                         config->listen.max_clients + refusals_max) {
        return;  // closed at once
    }
    const auto id = shared.next_client.fetch_add(1, std::memory_order_relaxed);
    auto peer = std::make_shared<stream>(io, std::move(accepted));
    auto one = std::make_shared<client::session>(*this, std::move(peer), std::move(address), id);
    auto running = run_session(std::move(one));
    asio::co_spawn(io, std::move(running), [id](const std::exception_ptr& error) {
        session_ended(id, error);
    });
}

}  // namespace weir::proxy
