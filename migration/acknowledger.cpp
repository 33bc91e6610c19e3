#include "migration/acknowledger.hpp"

#include "migration/safekeeping.hpp"
#include "migration/wal_end.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weir::migration {
namespace {

using namespace std::chrono_literals;

// How often the store's position is looked at while somebody waits.
constexpr auto interval = 2ms;

}  // namespace

acknowledger::acknowledger(
    const source_servers& servers,
    std::chrono::milliseconds timeout,
    position reached
)
    : servers_(servers), timeout_(timeout), reached_(std::move(reached)), server_(servers_) {
    server_.limit(timeout_);
    servers_.sleep = [this](std::chrono::milliseconds time) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, time, [&] { return stopping_; });
        if (stopping_) {
            throw stopped();
        }
    };
}

acknowledger::~acknowledger() {
    stop();
}

void acknowledger::start() {
    asking_ = std::thread([this] { ask(); });
    expiring_ = std::thread([this] { expire(); });
}

void acknowledger::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    begun_.notify_all();
    for (auto* each : {&asking_, &expiring_}) {
        if (each->joinable()) {
            each->join();
        }
    }
    for (auto& one : std::exchange(open_, {})) {
        one.then(false);
    }
}

void acknowledger::await(answer then) {
    {
        const std::lock_guard lock(mutex_);
        if (!stopping_) {
            open_.push_back(
                {.deadline = clock::now() + timeout_, .then = std::move(then), .number = ++last_}
            );
            changed_.notify_one();
            if (open_.size() == 1) {
                begun_.notify_one();
            }
            return;
        }
    }
    then(false);
}

// Waits until there is something to ask; nothing when it is time to stop.
std::optional<acknowledger::question> acknowledger::next_question() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !open_.empty(); });
    changed_.wait_for(lock, interval, [&] { return stopping_ || last_ != asked_; });
    if (stopping_) {
        return std::nullopt;
    }
    asked_ = last_;
    return question{.upto = last_, .end_wanted = std::ranges::any_of(open_, [](const waiting& one) {
                                       return !one.end;
                                   })};
}

std::optional<std::uint64_t> acknowledger::ask_end() {
    if (!server_.connected() && server_.find()) {
        return std::nullopt;
    }
    const auto said = server_.session().run(wal_end_question);
    if (!said) {
        server_.close();
        return std::nullopt;
    }
    return wal_end_of(said.rows);
}

void acknowledger::settle(
    const question& asked,
    std::optional<std::uint64_t> end,
    std::optional<std::uint64_t> reached
) {
    std::vector<std::pair<answer, bool>> done;
    {
        const std::lock_guard lock(mutex_);
        for (auto& one : open_) {
            if (!one.end && one.number <= asked.upto) {
                one.end = end;
            }
            const bool stored = one.end && reached && *reached >= *one.end;
            if (stored || reached == not_running) {
                done.emplace_back(std::exchange(one.then, nullptr), stored);
            }
        }
        std::erase_if(open_, [](const waiting& one) { return !one.then; });
    }
    for (const auto& [then, stored] : done) {
        missed_ += stored ? 0 : 1;
        then(stored);
    }
}

void acknowledger::ask() {
    while (const auto asked = next_question()) {
        std::optional<std::uint64_t> end;
        std::optional<std::uint64_t> reached;
        try {
            if (asked->end_wanted) {
                end = ask_end();
            }
            reached = reached_(server_);
        } catch (const stopped&) {
            return;
        }
        settle(*asked, end, reached);
    }
}

void acknowledger::expire() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (open_.empty()) {
            begun_.wait(lock);
            continue;
        }
        if (clock::now() < open_.front().deadline) {
            begun_.wait_until(lock, open_.front().deadline);
            continue;
        }
        const auto late = std::move(open_.front().then);
        open_.pop_front();
        lock.unlock();
        ++missed_;
        late(false);
        lock.lock();
    }
}

}  // namespace weir::migration
