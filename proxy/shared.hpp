// What the workers have in common. Members say how they may be used from several threads.
#pragma once

#include "config/config.hpp"
#include "migration/command.hpp"
#include "proxy/upstream/budget.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace weir::proxy {

class worker;

// (cluster, server name, database, user)
using pool_key = std::tuple<std::string, std::string, std::string, std::string>;

class shared_state {
public:
    explicit shared_state(unsigned workers) : workers_(workers) {}

    shared_state(const shared_state&) = delete;
    shared_state& operator=(const shared_state&) = delete;

    // The budget of one pool; made when it is first asked for. Any thread.
    [[nodiscard]] std::shared_ptr<upstream::budget>
    budget_of(const pool_key& key, std::uint32_t limit) {
        const std::lock_guard lock(mutex_);
        auto& found = budgets_[key];
        auto held = found.lock();
        if (!held) {
            held = std::make_shared<upstream::budget>(limit, workers_);
            found = held;
        } else {
            held->set_limit(limit);  // a reload may have changed it
        }
        return held;
    }

    [[nodiscard]] unsigned workers() const noexcept { return workers_; }

    std::atomic<std::uint32_t> clients{0};  // logged in or logging in
    std::atomic<std::uint64_t> next_client{1};
    std::atomic<bool> stopping{false};
    std::vector<worker*> all;  // set before the workers start, constant afterwards

    // Set before the workers start; callable from any thread, they post to the control thread.
    std::function<void(const std::string& cluster, const std::string& database)> want_catalog;
    // Something ran there that may have changed the catalog.
    std::function<void(const std::string& cluster, const std::string& database)> refresh_catalog;
    std::function<void(const std::string& cluster, std::size_t server)> suspect;
    // Reads the configuration again; `answer` is called on the control thread with what changed, or
    // what is wrong.
    std::function<void(std::function<void(bool done, std::vector<std::string> lines)> answer)>
        reload;
    // `answer` is called on a thread of the migrations.
    std::function<void(migration::command what, std::function<void(migration::reply)> answer)>
        migrate;
    // For a commit in this database, once the primary has answered it: whether the vector stores
    // that it is to wait for have it. `answer` is called on a thread of the migrations.
    std::function<void(const std::string& database, std::function<void(bool stored)> answer)>
        await_stored;

private:
    unsigned workers_;
    std::mutex mutex_;
    std::map<pool_key, std::weak_ptr<upstream::budget>> budgets_;
};

}  // namespace weir::proxy
