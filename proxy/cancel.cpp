#include "proxy/cancel.hpp"

#include "protocol/byte_writer.hpp"
#include "protocol/startup.hpp"
#include "proxy/client/session.hpp"
#include "proxy/upstream/dial.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <spdlog/spdlog.h>

#include <utility>

namespace weir::proxy {
namespace {

// Cancels under way on one worker; a flood must not eat the sockets. They are no part of any pool.
constexpr unsigned cancels_max = 64;
thread_local unsigned cancels_running = 0;

asio::awaitable<void> run_cancel(
    worker& home, upstream::connection_ptr target, std::shared_ptr<const upstream::pool_target> server
) {
    const auto client = target->client_id();
    upstream::time_limit limit(home.io, server->cluster->pool.connect_timeout);
    const auto& address = server->cluster->servers[server->server];
    const auto connected = co_await upstream::dial(home.io, address, limit);
    if (!connected.stream) {
        spdlog::warn("cancel request to server {} failed: {}", target->who.server, connected.problem);
    } else if (target->client_id() == client && !target->owes().empty()) {
        std::vector<std::uint8_t> packet;
        protocol::byte_writer writer(packet);
        protocol::cancel_request{static_cast<std::int32_t>(target->who.pid), protocol::as_text(target->who.key)}.encode(
            writer
        );
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

void forward_cancel(worker& from, const cancel_key& key) {
    for (auto* const each : from.shared.all) {
        each->post([each, key] {
            if (auto* const found = each->find_session(key)) {
                found->cancel();
            }
        });
    }
}

void cancel_on_server(
    worker& home, upstream::connection_ptr target, std::shared_ptr<const upstream::pool_target> server
) {
    if (target->being_canceled() || cancels_running >= cancels_max) {
        return;
    }
    ++cancels_running;
    target->cancel_started();
    auto running = run_cancel(home, std::move(target), std::move(server));
    asio::co_spawn(home.io, std::move(running), asio::detached);
}

}  // namespace weir::proxy
