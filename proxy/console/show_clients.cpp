#include "proxy/client/session.hpp"
#include "proxy/console/commands.hpp"
#include "proxy/console/describe.hpp"
#include "proxy/console/gather.hpp"
#include "proxy/worker.hpp"
#include "routing/names.hpp"

#include <algorithm>
#include <iterator>

namespace weir::proxy::console {

namespace {

row describe(const client::session::description& client, unsigned worker, steady_time now) {
    auto [address, port] = split_address(client.address);
    const bool waiting = client.phase == client::session_phase::waiting;
    const auto wait = wait_of(waiting ? now - client.last_request : steady_time::duration::zero());
    return {
        "C",
        client.user,
        client.database,
        client::to_string(client.phase),
        std::move(address),
        number(port),
        wall_time(client.connected, now),
        wall_time(client.last_request, now),
        number(wait.seconds),
        number(wait.microseconds),
        number(client.server_pid),
        client.tls ? "tls" : "",
        client.application_name,
        number(client.prepared),
        number(client.id),
        text_or_null(client.server),
        client.pinned == routing::pin_reason::none
            ? cell()
            : cell(std::string(routing::name_of(client.pinned))),
        number(worker)};
}

std::vector<row> clients_of(worker& asked) {
    const auto now = worker::now();
    std::vector<row> rows;
    for (const auto* const each : asked.sessions) {
        rows.push_back(describe(each->describe(), asked.index, now));
    }
    return rows;
}

}  // namespace

fields clients_columns(const tokens& arguments) {
    static_cast<void>(arguments);
    return {
        {"type"},
        {"user"},
        {"database"},
        {"state"},
        {"addr"},
        {"port", value_type::integer},
        {"connect_time"},
        {"request_time"},
        {"wait", value_type::integer},
        {"wait_us", value_type::integer},
        {"remote_pid", value_type::integer},
        {"tls"},
        {"application_name"},
        {"prepared_statements", value_type::integer},
        {"id", value_type::integer},
        {"server"},
        {"pinned"},
        {"worker", value_type::integer}};
}

asio::awaitable<answer> show_clients(const request& what) {
    auto parts = co_await gather(what.home, what.home.shared.all, clients_of);
    if (!parts) {
        co_return incomplete();
    }
    answer made;
    for (auto& part : *parts) {
        std::move(part.begin(), part.end(), std::back_inserter(made.rows));
    }
    constexpr std::size_t id_column = 14;
    std::sort(made.rows.begin(), made.rows.end(), [](const row& left, const row& right) {
        return left[id_column] < right[id_column];
    });
    co_return made;
}

}  // namespace weir::proxy::console
