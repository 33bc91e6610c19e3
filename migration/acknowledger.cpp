#include "migration/acknowledger.hpp"

#include "migration/safekeeping.hpp"
#include "migration/wal_end.hpp"

#include <utility>

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
    thread_ = std::thread([this] { run(); });
}

void acknowledger::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
    for (auto& one : std::exchange(fresh_, {})) {
        one.then(false);
    }
}

void acknowledger::await(answer then) {
    {
        const std::lock_guard lock(mutex_);
        if (!stopping_) {
            fresh_.push_back({clock::now() + timeout_, std::move(then)});
            changed_.notify_all();
            return;
        }
    }
    then(false);
}

// Waits for work; false when it is time to stop.
bool acknowledger::gather(std::vector<waiting>& open) {
    std::unique_lock lock(mutex_);
    if (open.empty()) {
        changed_.wait(lock, [&] { return stopping_ || !fresh_.empty(); });
    } else {
        changed_.wait_for(lock, interval, [&] { return stopping_ || !fresh_.empty(); });
    }
    for (auto& one : fresh_) {
        open.push_back(std::move(one));
    }
    fresh_.clear();
    return !stopping_;
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

void acknowledger::settle(std::vector<waiting>& open, std::optional<std::uint64_t> reached) {
    const auto now = clock::now();
    std::erase_if(open, [&](waiting& one) {
        const bool stored = one.end && reached && *reached >= *one.end;
        if (stored || reached == not_running || now >= one.deadline) {
            missed_ += stored ? 0 : 1;
            one.then(stored);
            return true;
        }
        return false;
    });
}

void acknowledger::run() {
    std::vector<waiting> open;
    while (gather(open)) {
        std::optional<std::uint64_t> end;
        std::optional<std::uint64_t> reached;
        try {
            bool asked = false;
            for (auto& one : open) {
                if (!one.end) {
                    end = asked ? end : ask_end();
                    asked = true;
                    one.end = end;
                }
            }
            reached = reached_(server_);
        } catch (const stopped&) {
            break;
        }
        settle(open, reached);
    }
    for (auto& one : open) {
        one.then(false);
    }
}

}  // namespace weir::migration
