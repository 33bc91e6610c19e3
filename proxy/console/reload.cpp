#include "proxy/console/commands.hpp"
#include "proxy/worker.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weir::proxy::console {

namespace {

// Reading files and resolving names may take a while; the reload goes on when nobody waits for it.
constexpr std::chrono::seconds reload_limit{30};

struct outcome {
    asio::steady_timer* wake = nullptr;  // home thread only
    bool answered = false;
    bool done = false;
    std::vector<std::string> lines;
};

answer answer_of(outcome&& from) {
    answer made;
    if (from.answered && from.done) {
        for (auto& line : from.lines) {
            made.rows.push_back({std::move(line)});
        }
        return made;
    }
    protocol::diagnostic why;
    if (!from.answered) {
        why.code = protocol::sqlstates::query_canceled;
        why.message = "the reload is still under way";
        why.hint = "The log tells how it ends.";
        return failed(std::move(why));
    }
    why.code = protocol::sqlstates::config_file_error;
    why.message = "the configuration is wrong; nothing was changed";
    for (const auto& line : from.lines) {
        why.detail.append(why.detail.empty() ? "" : "\n").append(line);
    }
    return failed(std::move(why));
}

}  // namespace

fields reload_columns(const tokens& arguments) {
    static_cast<void>(arguments);
    return {{"changed"}};
}

asio::awaitable<answer> reload(const request& what) {
    auto& home = what.home;
    const auto state = std::make_shared<outcome>();
    asio::steady_timer wake(home.io, reload_limit);
    state->wake = &wake;
    home.shared.reload([state, &home](bool done, std::vector<std::string> lines) {
        home.post([state, done, lines = std::move(lines)]() mutable {
            state->answered = true;
            state->done = done;
            state->lines = std::move(lines);
            if (state->wake != nullptr) {
                state->wake->cancel();
            }
        });
    });
    const auto [wait_ec] = co_await wake.async_wait(use_tuple);
    static_cast<void>(wait_ec);
    state->wake = nullptr;
    co_return answer_of(std::move(*state));
}

}  // namespace weir::proxy::console
