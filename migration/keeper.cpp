#include "migration/keeper.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace weir::migration {

keeper::keeper(lease_terms terms, const source_servers& servers)
    : lease_(std::move(terms)), servers_(servers) {}

keeper::~keeper() {
    stop(false);
}

void keeper::start() {
    thread_ = std::thread([this] { run(); });
}

void keeper::stop(bool quiet) {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        quiet_ = quiet;
    }
    changed_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

std::string keeper::standing_by() const {
    const std::lock_guard lock(mutex_);
    return standing_by_;
}

void keeper::await_first_try() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(5), [&] { return stopping_ || tried_; });
}

void keeper::say(std::string text) {
    const std::lock_guard lock(mutex_);
    tried_ = true;
    changed_.notify_all();
    if (text == standing_by_) {
        return;
    }
    if (text.empty()) {
        spdlog::info("migration {}: this process writes", lease_.terms().migration);
    } else {
        spdlog::info("migration {}: stands by: {}", lease_.terms().migration, text);
    }
    standing_by_ = std::move(text);
}

bool keeper::wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [&] { return stopping_; });
}

// One attempt at every server, of which one is the primary.
bool keeper::take() {
    std::string faults;
    for (const auto& server : servers_.addresses) {
        const auto tried = lease_.try_take(server);
        if (tried.what == lease_try::taken) {
            return true;
        }
        if (tried.what == lease_try::held) {
            say(tried.text);
            return false;
        }
        faults += (faults.empty() ? "" : "; ") + tried.text;
    }
    say(faults);
    return false;
}

void keeper::run() {
    const auto third = lease_.terms().duration / 3;
    while (true) {
        if (!take()) {
            if (!wait(third)) {
                return;
            }
            continue;
        }
        say({});
        while (true) {
            if (!wait(third)) {
                lease_.release(quiet_);
                return;
            }
            if (const auto lost = lease_.renew()) {
                say("the lease is lost: " + lost->text);
                break;
            }
        }
    }
}

}  // namespace weir::migration
