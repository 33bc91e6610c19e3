// What a writer needs besides the store: the source to read rows again, and the journal.
// Interfaces, so that writers are tested without a server of either kind.
#pragma once

#include "migration/change.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir::migration {

struct dead_letter {
    std::string space;
    migration::key key;
    migration::version version;
    std::string operation;  // "upsert", "patch", "remove"
    std::string reason;
};

// Threads: one at a time for each object. Calls block until they are done, through lost connections
// too; they throw `stopped` when the migration is to stop.
class row_reader {
public:
    row_reader() = default;
    row_reader(const row_reader&) = delete;
    row_reader& operator=(const row_reader&) = delete;
    virtual ~row_reader() = default;

    struct wanted {
        const migration::key* key = nullptr;
        std::uint32_t transaction = 0;  // to be visible first; 0: none
    };

    // One entry for each key: the row on the primary as it is now, or nothing.
    [[nodiscard]] virtual std::vector<std::optional<source_row>> reread(std::span<const wanted> rows
    ) = 0;
};

class safekeeping {
public:
    safekeeping() = default;
    safekeeping(const safekeeping&) = delete;
    safekeeping& operator=(const safekeeping&) = delete;
    virtual ~safekeeping() = default;

    struct grave {
        std::string space;
        std::string key;  // in the text form of plan.hpp
        migration::version version;
    };

    // Durable when it returns. Older ones of the same document give way.
    virtual void bury(std::span<const grave> graves) = 0;

    // For each key of the namespace the version of its tombstone, if it has one.
    [[nodiscard]] virtual std::vector<std::optional<version>>
    buried(const std::string& space, std::span<const std::string> keys) = 0;

    // Durable when it returns.
    virtual void set_aside(std::span<const dead_letter> letters) = 0;
};

struct stopped : std::runtime_error {
    stopped() : std::runtime_error("the migration stops") {}
};

}  // namespace weir::migration
