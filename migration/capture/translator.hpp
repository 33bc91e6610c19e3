// From pgoutput's messages to changes of one table. Pure, apart from the question it may ask.
//
// Columns are found by name in the latest Relation message of the row's relation: columns that the
// plan does not name are ignored. After a Relation that does not fit the plan (see
// relation_map.hpp) each row of it is an `unusable`, until a Relation that fits. An embedding of
// another length than the plan's is handed on as it is.
#pragma once

#include "migration/capture/pgoutput.hpp"
#include "migration/capture/relation_map.hpp"
#include "migration/change.hpp"
#include "migration/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::migration {

// Threads: one at a time.
class translator {
public:
    // Whether the relation of this OID is a partition of the table. nullopt: it cannot be told now,
    // which makes feed() fail; the stream is then to be read again from what is confirmed.
    using membership = std::function<std::optional<bool>(std::uint32_t relation)>;

    // `what` must outlive this object. `ask` may be empty: relations are then told by
    // set_relation(), and those that are not are not ours. Neither is asked about the table itself.
    translator(const plan& what, std::uint32_t timeline, membership ask = {});

    // Answers instead of `ask` from the next Relation message on.
    void set_relation(std::uint32_t oid, bool ours);

    // Appends the changes that the message makes. Messages come in the order of the stream, from a
    // Begin on. An error, with its reason: the stream is broken or cannot be judged.
    [[nodiscard]] std::optional<std::string>
    feed(const pgoutput::message& from, std::vector<change>& into);

    // Between a Begin and its Commit.
    [[nodiscard]] bool in_transaction() const noexcept { return in_transaction_; }

    // The one in progress, or the last one.
    [[nodiscard]] const pgoutput::begin& transaction() const noexcept { return transaction_; }

private:
    struct known_relation {
        bool ours = false;
        std::uint32_t part = 0;
        relation_map map;
    };

    struct feeding;
    using fault = std::optional<std::string>;

    [[nodiscard]] std::optional<bool> is_ours(std::uint32_t oid) const;
    [[nodiscard]] fault learn(const pgoutput::relation& from);

    const plan& plan_;
    std::uint32_t timeline_;
    membership ask_;
    std::unordered_map<std::uint32_t, bool> told_;
    pgoutput::begin transaction_;
    bool in_transaction_ = false;
    std::uint32_t ordinal_ = 0;
    // The server sends each relation and type once and expects them to be kept: as many entries as
    // the publication has relations, and as their columns have types that are not built in.
    std::unordered_map<std::uint32_t, known_relation> relations_;
    type_names types_;
};

}  // namespace weir::migration
