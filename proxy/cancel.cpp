#include "proxy/cancel.hpp"

#include "protocol/byte_writer.hpp"
#include "protocol/startup.hpp"
#include "proxy/client/session.hpp"
#include "proxy/upstream/dial.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>
#include <utility>

namespace weir::proxy {
namespace {

// Cancels under way on one worker; a flood must not eat the sockets. They are no part of any pool.
constexpr unsigned cancels_max = 64;
thread_local unsigned cancels_running = 0;

// A request waits this long for its server at most; what holds it up for longer is cut by
// connect_timeout.
constexpr auto patience = std::chrono::seconds(15);

// A request on its way, of the worker that it came to.
struct journey {
    journey(asio::io_context& io, std::size_t workers) : arrived(io, patience), left(workers) {}

    asio::steady_timer arrived;
    std::size_t left;  // workers that have not said yet that they are done with it
};

asio::awaitable<void> run_cancel(
    worker& home,
    upstream::connection_ptr target,
    std::shared_ptr<const upstream::pool_target> server,
    std::function<void()> done
) {
    const auto client = target->client_id();
    upstream::time_limit limit(home.io, server->cluster->pool.connect_timeout);
    const auto& address = server->cluster->servers[server->server];
    const auto connected = co_await upstream::dial(home.io, address, limit);
    if (!connected.stream) {
        spdlog::warn(
            "cancel request to server {} failed: {}",
            target->who.server,
            connected.problem
        );
    } else if (target->client_id() == client && !target->owes().empty()) {
        std::vector<std::uint8_t> packet;
        protocol::byte_writer writer(packet);
        protocol::cancel_request{
            static_cast<std::int32_t>(target->who.pid),
            protocol::as_text(target->who.key)}
            .encode(writer);
        const upstream::time_limit::step step(limit, [to = connected.stream] { to->close(); });
        connected.stream->write(packet);
        connected.stream->flush();
        input_buffer nothing(home.scratch);
        // The server closes when the signal has been sent, never before.
        const auto end = co_await connected.stream->read(nothing);
        (void)end;
    }
    if (connected.stream) {
        connected.stream->close();
    }
    target->cancel_ended();
    --cancels_running;
    if (done) {
        done();
    }
}

}  // namespace

std::uint32_t cancel_secret(std::string_view key) noexcept {
    if (key.size() != 4) {
        return 0;
    }
    std::uint32_t value = 0;
    for (const char c : key) {
        value = value << 8U | static_cast<std::uint8_t>(c);
    }
    return value;
}

asio::awaitable<void> forward_cancel(worker& from, cancel_key key) {
    const auto request = std::make_shared<journey>(from.io, from.shared.all.size());
    const std::function<void()> done = [&from, request] {
        from.post([request] {
            if (--request->left == 0) {
                request->arrived.cancel();
            }
        });
    };
    for (auto* const each : from.shared.all) {
        each->post([each, key, done] {
            if (auto* const found = each->find_session(key)) {
                found->cancel(done);
            } else {
                done();
            }
        });
    }
    const auto [wait_ec] = co_await request->arrived.async_wait(use_tuple);
    (void)wait_ec;
}

void cancel_on_server(
    worker& home,
    upstream::connection_ptr target,
    std::shared_ptr<const upstream::pool_target> server,
    std::function<void()> done
) {
    if (target->being_canceled() || cancels_running >= cancels_max) {
        if (done) {
            done();
        }
        return;
    }
    ++cancels_running;
    target->cancel_started();
    auto running = run_cancel(home, std::move(target), std::move(server), std::move(done));
    asio::co_spawn(home.io, std::move(running), asio::detached);
}

}  // namespace weir::proxy
