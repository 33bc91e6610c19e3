// Which prepared statements one server connection holds, newest use first. Changed in the order in
// which messages are sent; failed() and closed_in_vain() take back what an error made undone. Pure.
#pragma once

#include "proxy/statement.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace weir::proxy::upstream {

class statement_set {
public:
    explicit statement_set(std::size_t limit) : limit_(limit) {}

    // True if the server has it, or will have it by the time the next message is read. Counts as a
    // use.
    [[nodiscard]] bool use(std::uint64_t id) {
        const auto found = index_.find(id);
        if (found == index_.end()) {
            return false;
        }
        order_.splice(order_.begin(), order_, found->second);
        return true;
    }

    // A Parse for it is being sent.
    void add(statement_ptr added) {
        const auto [at, is_new] = index_.try_emplace(added->id);
        if (!is_new) {
            order_.erase(at->second
            );  // put back by a Close that was skipped, and parsed again meanwhile
        }
        order_.push_front(std::move(added));
        at->second = order_.begin();
    }

    // The statement to close before another one is added; null while there is room. It is taken
    // out.
    [[nodiscard]] statement_ptr evict() {
        if (order_.size() < limit_) {
            return nullptr;
        }
        statement_ptr oldest = std::move(order_.back());
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
        statement_ptr gone = std::move(*found->second);
        order_.erase(found->second);
        index_.erase(found);
        return gone;
    }

    void clear() {
        order_.clear();
        index_.clear();
    }

    // The newest first.
    [[nodiscard]] std::vector<statement_ptr> all() const { return {order_.begin(), order_.end()}; }

    [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }

private:
    std::size_t limit_;
    std::list<statement_ptr> order_;
    std::unordered_map<std::uint64_t, std::list<statement_ptr>::iterator> index_;
};

}  // namespace weir::proxy::upstream
