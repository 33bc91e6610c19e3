// MIGRATE … and SHOW MIGRATIONS: handed to the supervisor, whose threads do the work.
#include "migration/supervisor.hpp"
#include "proxy/console/commands.hpp"
#include "proxy/worker.hpp"

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace weir::proxy::console {

namespace {

using migration::verb;

// Longer than the supervisor's own limit for a command.
constexpr std::chrono::seconds limit{90};

struct named_verb {
    std::string_view word;
    verb what;
};

constexpr std::array verbs{
    named_verb{"START", verb::start},
    named_verb{"STATUS", verb::status},
    named_verb{"PAUSE", verb::pause},
    named_verb{"RESUME", verb::resume},
    named_verb{"VERIFY", verb::verify},
    named_verb{"REPAIR", verb::repair},
    named_verb{"DEAD", verb::dead_letters},
    named_verb{"REMOVE", verb::remove}};

struct parsed {
    migration::command value;
    std::optional<protocol::diagnostic> error{};
};

parsed wrong(const token& at) {
    return {.value = {}, .error = syntax_error("syntax error at or near \"" + at.text + "\"")};
}

// Words behind the migration's name.
std::optional<token> options_of(migration::command& into, const tokens& words, std::size_t from) {
    for (std::size_t i = from; i < words.size(); ++i) {
        const bool start = into.what == verb::start;
        if (start && is_word(words[i], "DRY") && i + 1 < words.size() &&
            is_word(words[i + 1], "RUN")) {
            into.dry_run = true;
            ++i;
        } else if (start && is_word(words[i], "FORCE")) {
            into.force = true;
        } else if (into.what == verb::dead_letters && is_word(words[i], "RETRY")) {
            into.retry = true;
        } else {
            return words[i];
        }
    }
    return std::nullopt;
}

parsed parse(const tokens& words) {
    parsed made;
    if (words.empty()) {
        made.error = syntax_error(
            "MIGRATE needs a verb: START, STATUS, PAUSE, RESUME, VERIFY, "
            "REPAIR, DEAD LETTERS or REMOVE"
        );
        return made;
    }
    const auto* const found = std::find_if(verbs.begin(), verbs.end(), [&](const named_verb& one) {
        return is_word(words[0], one.word);
    });
    if (found == verbs.end()) {
        return wrong(words[0]);
    }
    made.value.what = found->what;
    std::size_t next = 1;
    if (found->what == verb::dead_letters) {
        if (words.size() < 2 || !is_word(words[1], "LETTERS")) {
            return wrong(words.size() < 2 ? words[0] : words[1]);
        }
        next = 2;
    }
    if (next < words.size()) {
        made.value.migration = words[next].text;
        if (const auto bad = options_of(made.value, words, next + 1)) {
            return wrong(*bad);
        }
    } else if (found->what != verb::status) {
        made.error = syntax_error("the name of the migration is missing");
    }
    return made;
}

fields columns_of(const migration::command& what) {
    fields columns;
    switch (what.what) {
    case verb::status:
        for (const auto& name : migration::status_columns()) {
            columns.push_back({name});
        }
        break;
    case verb::start: columns = {{"check"}, {"state"}, {"detail"}}; break;
    case verb::dead_letters:
        if (!what.retry) {
            columns = {
                {"namespace"},
                {"key"},
                {"version"},
                {"operation"},
                {"reason"},
                {"at"},
                {"attempts"}};
            break;
        }
        [[fallthrough]];
    default: columns = {{"result"}};
    }
    return columns;
}

struct outcome {
    asio::steady_timer* wake = nullptr;  // home thread only
    std::optional<migration::reply> reply;
};

answer answer_of(std::optional<migration::reply>&& from) {
    protocol::diagnostic why;
    if (!from) {
        why.code = protocol::sqlstates::query_canceled;
        why.message = "the command is still under way";
        why.hint = "MIGRATE STATUS tells how it goes.";
        return failed(std::move(why));
    }
    if (!from->done) {
        why.code = protocol::sqlstates::wrong_object_state;
        why.message = std::move(from->text);
        why.hint = std::move(from->hint);
        for (const auto& row : from->rows) {
            std::string line;
            for (const auto& cell : row) {
                line += (line.empty() ? "" : ": ") + cell;
            }
            why.detail += (why.detail.empty() ? "" : "\n") + line;
        }
        return failed(std::move(why));
    }
    answer made;
    for (auto& row : from->rows) {
        auto& cells = made.rows.emplace_back();
        for (auto& cell : row) {
            cells.emplace_back(std::move(cell));
        }
    }
    return made;
}

asio::awaitable<answer> ask(worker& home, migration::command what) {
    const auto state = std::make_shared<outcome>();
    asio::steady_timer wake(home.io, limit);
    state->wake = &wake;
    home.shared.migrate(std::move(what), [state, &home](migration::reply reply) {
        home.post([state, reply = std::move(reply)]() mutable {
            state->reply = std::move(reply);
            if (state->wake != nullptr) {
                state->wake->cancel();
            }
        });
    });
    const auto [wait_ec] = co_await wake.async_wait(use_tuple);
    static_cast<void>(wait_ec);
    state->wake = nullptr;
    co_return answer_of(std::move(state->reply));
}

}  // namespace

std::optional<protocol::diagnostic> check_migrate(const tokens& arguments) {
    return parse(arguments).error;
}

fields migrate_columns(const tokens& arguments) {
    return columns_of(parse(arguments).value);
}

asio::awaitable<answer> migrate(const request& what) {
    auto command = parse(what.arguments).value;
    auto made = co_await ask(what.home, std::move(command));
    co_return made;
}

fields migrations_columns(const tokens& arguments) {
    static_cast<void>(arguments);
    return columns_of({});
}

asio::awaitable<answer> show_migrations(const request& what) {
    migration::command status;
    auto made = co_await ask(what.home, std::move(status));
    co_return made;
}

}  // namespace weir::proxy::console
