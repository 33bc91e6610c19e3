// The writers' side of the journal: each lane has one, over a connection of its own.
#pragma once

#include "migration/journal.hpp"
#include "migration/primary.hpp"
#include "migration/safekeeping.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weir::migration {

// Throws `stopped` when the lease is lost, after telling `trouble` why; and when the server refuses
// a statement, because a writer cannot go on without a durable tombstone or dead letter.
class journal_safekeeping final : public safekeeping {
public:
    // `servers` outlives it.
    journal_safekeeping(
        const source_servers& servers,
        std::string migration,
        std::uint64_t epoch,
        std::function<void(const journal_error&)> trouble
    )
        : primary_(servers),
          journal_(primary_, std::move(migration), epoch),
          trouble_(std::move(trouble)) {}

    void bury(std::span<const grave> graves) override { check(journal_.bury(graves)); }

    [[nodiscard]] std::vector<std::optional<version>>
    buried(const std::string& space, std::span<const std::string> keys) override {
        auto found = journal_.buried(space, keys);
        check(found);
        return std::move(*found);
    }

    void set_aside(std::span<const dead_letter> letters) override {
        check(journal_.set_aside(letters));
    }

private:
    template <typename Value>
    void check(const journal_result<Value>& result) {
        if (!result) {
            trouble_(result.error());
            throw stopped();
        }
    }

    primary primary_;
    journal journal_;
    std::function<void(const journal_error&)> trouble_;
};

}  // namespace weir::migration
