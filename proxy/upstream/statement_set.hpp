// Which prepared statements one server connection holds, newest use first. Changed in the order in
// which messages are sent; failed() and closed_in_vain() take back what an error made undone. Pure.
#pragma once

#include "proxy/result_digest.hpp"
#include "proxy/statement.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::proxy::upstream {

// A statement on a server, and what is known of this copy of it.
struct statement_copy {
    statement_ptr what;
    // In the worker's order of events: its Parse, or the last use that the server is known to have
    // accepted. Later than that its tables may have changed.
    std::uint64_t good_at = 0;
    result_digest result = 0;  // as the server has described it
};

class statement_set {
public:
    explicit statement_set(std::size_t limit) : limit_(limit) {}

    // Null: the server does not have it. Otherwise it has, or will have by the time the next
    // message is read; counts as a use. Valid until the set is changed.
    [[nodiscard]] statement_copy* use(std::uint64_t id) {
        const auto found = index_.find(id);
        if (found == index_.end()) {
            return nullptr;
        }
        order_.splice(order_.begin(), order_, found->second);
        return &*found->second;
    }

    // A Parse for it is being sent.
    void add(statement_ptr added, std::uint64_t now = 0) {
        const auto [at, is_new] = index_.try_emplace(added->id);
        if (!is_new) {
            order_.erase(at->second
            );  // put back by a Close that was skipped, and parsed again meanwhile
        }
        order_.push_front({std::move(added), now, 0});
        at->second = order_.begin();
    }

    // The server has accepted a use of it that was sent at that time.
    void accepted(std::uint64_t id, std::uint64_t sent_at) {
        if (const auto found = index_.find(id); found != index_.end()) {
            found->second->good_at = std::max(found->second->good_at, sent_at);
        }
    }

    // The server has described its result.
    void described(std::uint64_t id, result_digest result) {
        if (const auto found = index_.find(id); found != index_.end()) {
            found->second->result = result;
        }
    }

    // The statement to close before another one is added; null while there is room. It is taken
    // out.
    [[nodiscard]] statement_ptr evict() {
        if (order_.size() < limit_) {
            return nullptr;
        }
        statement_ptr oldest = std::move(order_.back().what);
        order_.pop_back();
        index_.erase(oldest->id);
        return oldest;
    }

    // Its Parse failed or was skipped, or the server says that its copy is stale.
    statement_ptr remove(std::uint64_t id) {
        const auto found = index_.find(id);
        if (found == index_.end()) {
            return nullptr;
        }
        statement_ptr gone = std::move(found->second->what);
        order_.erase(found->second);
        index_.erase(found);
        return gone;
    }

    void clear() {
        order_.clear();
        index_.clear();
    }

    // The newest first.
    [[nodiscard]] std::vector<statement_ptr> all() const {
        std::vector<statement_ptr> found;
        found.reserve(order_.size());
        for (const auto& each : order_) {
            found.push_back(each.what);
        }
        return found;
    }

    [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }

private:
    std::size_t limit_;
    std::list<statement_copy> order_;
    std::unordered_map<std::uint64_t, std::list<statement_copy>::iterator> index_;
};

}  // namespace weir::proxy::upstream
