// Carries out batches of operations at the store, so that an older version never replaces a newer
// one and nothing that was deleted comes back. One for each lane.
#pragma once

#include "migration/operation.hpp"
#include "migration/safekeeping.hpp"
#include "migration/store/store.hpp"
#include "migration/tally.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace weir::migration {

// What the writers of a migration share.
struct writing_rules {
    // The copy is not over: a removal leaves a tombstone before it is carried out, because a page
    // that was read before may hold the row.
    std::atomic<bool> copying = false;
    // Up to this LSN changes may have been sent before a restart: the store is looked at first,
    // where it cannot compare versions itself.
    std::atomic<std::uint64_t> guarded_until = 0;
    // Waits; throws `stopped` when the migration is to stop or may not write any more.
    std::function<void(std::chrono::milliseconds)> sleep;
    // Throws `stopped` unless the lease is held for as long as a request may take.
    std::function<void()> may_write;
};

// Threads: one at a time. Everything that it is given outlives it.
class writer {
public:
    writer(
        const plan& what,
        store::store& target,
        row_reader& source,
        safekeeping& journal,
        writing_rules& rules,
        tally& count
    );

    // When it returns, every operation is carried out, outdated, or a durable dead letter. Tries
    // again for ever where that may help. Throws `stopped`.
    void carry_out(std::vector<operation>&& batch);

    // Removes everything of the partition (0: of all), in every namespace of the migration. Calls
    // `meanwhile` before each round, which may throw.
    void clear(std::uint32_t part, const std::function<void()>& meanwhile);

private:
    using operations = std::vector<operation>;

    void drop_outdated(operations& all);
    void drop_older_than_store(operations& all);
    void drop_buried(operations& all);
    void read_again(operations& all);
    void leave_tombstones(const operations& all);
    void send(const std::string& space, std::span<operation*> some);
    void send_patches(const std::string& space, std::span<operation* const> some);
    void send_upserts(const std::string& space, std::span<operation* const> some);
    void send_removals(const std::string& space, std::span<operation* const> some);

    // `call` takes a part of `all`, documents or removals; a part that is refused is halved until
    // one is left, which is set aside.
    template <typename Item, typename Call>
    void in_parts(const std::string& space, std::span<const Item> all, const Call& call);
    void set_aside(dead_letter&& letter);
    void wait_out(const std::string& space, const store::error& why, unsigned& attempt);

    // Until it succeeds or is refused.
    template <typename Call>
    auto persist(const std::string& space, const Call& call);

    const plan& plan_;
    store::store& store_;
    row_reader& source_;
    safekeeping& journal_;
    writing_rules& rules_;
    tally& tally_;
    std::unordered_set<std::string> ensured_;  // at most `most_ensured`
    std::minstd_rand random_;
};

}  // namespace weir::migration
