// How many connections one pool may have over all workers, and who gets the next one. Shared by the
// workers' pools; every member may be called from any thread. What a worker hands on is a slot,
// never a connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace weir::proxy::upstream {

class budget {
public:
    budget(std::uint32_t limit, unsigned workers);

    // `poke` is called from any thread and makes worker `worker` look at its pool again.
    void attach(unsigned worker, std::function<void()> poke);
    void detach(unsigned worker);

    // A slot for one more connection, if there is one that no other worker has a better claim to:
    // one that waits, and holds less or was served longer ago.
    [[nodiscard]] bool take(unsigned worker);
    void give_back(unsigned worker);
    // The same in two steps, for a connection that takes its time to close: it is no longer the
    // worker's, but counts until the server has nothing of it any more.
    void begin_return(unsigned worker);
    void end_return();
    // How many clients wait on this worker; others with idle connections are poked when there are
    // some.
    void waiting(unsigned worker, std::uint32_t clients);

    // A worker about to reuse a connection, or to use a new one: should it close it instead,
    // because another worker waits and has less than its share? Every slot serves somebody before.
    [[nodiscard]] bool should_yield(unsigned worker, bool has_waiters) noexcept;

    [[nodiscard]] std::uint32_t used() const noexcept {
        return used_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] std::uint32_t limit() const noexcept {
        return limit_.load(std::memory_order_relaxed);
    }

    void set_limit(std::uint32_t limit) noexcept { limit_.store(limit, std::memory_order_relaxed); }

private:
    struct share {
        std::uint32_t held = 0;
        std::uint32_t waiting = 0;
        std::uint64_t turn = 0;  // the lower one was served longer ago
        bool fresh = false;      // the last slot taken may not have served anybody yet
        std::function<void()> poke;
    };

    [[nodiscard]] std::uint32_t better_claims(const share& mine) const noexcept;
    void poke_waiting() const;
    void poke_others(unsigned worker) const;

    std::mutex mutex_;
    std::vector<share> shares_;
    std::uint32_t returning_ = 0;
    std::uint64_t turns_ = 0;
    std::atomic<std::uint32_t> limit_;
    std::atomic<std::uint32_t> used_{0};
    std::atomic<std::uint32_t> waiting_workers_{0};  // read without the lock on every release
};

}  // namespace weir::proxy::upstream
