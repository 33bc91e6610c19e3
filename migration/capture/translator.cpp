#include "migration/capture/translator.hpp"

#include "migration/capture/tuple_values.hpp"

#include <utility>

namespace weir::migration {

// One message on its way.
struct translator::feeding {
    translator& self;
    std::vector<change>& into;

    fault operator()(const pgoutput::begin& from) const {
        self.transaction_ = from;
        self.in_transaction_ = true;
        self.ordinal_ = 0;
        return std::nullopt;
    }

    fault operator()(const pgoutput::commit& from) const {
        if (!self.in_transaction_ || from.commit_lsn != self.transaction_.final_lsn) {
            return "a Commit without its Begin";
        }
        self.in_transaction_ = false;
        return std::nullopt;
    }

    fault operator()(const pgoutput::origin&) const { return std::nullopt; }

    fault operator()(const pgoutput::emitted&) const { return std::nullopt; }

    fault operator()(const pgoutput::relation& from) const { return self.learn(from); }

    fault operator()(const pgoutput::type& from) const {
        self.types_[from.id] = std::string(from.schema) + '.' + std::string(from.name);
        return std::nullopt;
    }

    fault operator()(const pgoutput::insert& from) const {
        return on_row(from.relation, from.row, [&](const known_relation& of) {
            tuple_values values(self.plan_, of.map, from.row, nullptr);
            row_written made;
            made.row = values.row();
            made.row.part = of.part;
            made.inserted = true;
            return std::pair(std::move(made), values.trouble());
        });
    }

    fault operator()(const pgoutput::update& from) const {
        return on_row(from.relation, from.row, [&](const known_relation& of) {
            const bool has_old = from.before != pgoutput::old_kind::none;
            tuple_values values(self.plan_, of.map, from.row, has_old ? &from.old : nullptr);
            row_written made;
            made.row = values.row();
            made.row.part = of.part;
            if (has_old) {
                made.old_key = values.old_key();
                made.old_tenant = values.old_tenant();
            }
            return std::pair(std::move(made), values.trouble());
        });
    }

    fault operator()(const pgoutput::erase& from) const {
        return on_row(from.relation, from.old, [&](const known_relation& of) {
            tuple_values values(self.plan_, of.map, from.old, &from.old);
            row_deleted made{.key = values.old_key(), .tenant = values.old_tenant()};
            return std::pair(std::move(made), values.trouble());
        });
    }

    fault operator()(const pgoutput::truncate& from) const {
        if (!self.in_transaction_) {
            return "a Truncate outside of a transaction";
        }
        for (const auto oid : from.relations) {
            const auto found = self.relations_.find(oid);
            if (found == self.relations_.end()) {
                return "a Truncate of relation " + std::to_string(oid) + " without its Relation";
            }
            const auto at = next_version();
            if (found->second.ours) {
                append(emptied{.part = found->second.part}, at);
            }
        }
        return std::nullopt;
    }

private:
    // `make` returns what becomes of the row, and why it cannot be used if that is so.
    template <typename Make>
    [[nodiscard]] fault on_row(std::uint32_t oid, const pgoutput::tuple& fields, const Make& make)
        const {
        if (!self.in_transaction_) {
            return "a row outside of a transaction";
        }
        const auto found = self.relations_.find(oid);
        if (found == self.relations_.end()) {
            return "a row of relation " + std::to_string(oid) + " without its Relation";
        }
        const auto& of = found->second;
        const auto at = next_version();
        if (!of.ours) {
            return std::nullopt;
        }
        if (!of.map.trouble.empty()) {
            append(unusable{.reason = of.map.trouble}, at);
            return std::nullopt;
        }
        if (fields.size() != of.map.columns) {
            return "a row of relation " + std::to_string(oid) + " with too few or too many columns";
        }
        auto [made, trouble] = make(of);
        if (trouble.empty()) {
            append(std::move(made), at);
        } else {
            append(unusable{.reason = std::move(trouble)}, at);
        }
        return std::nullopt;
    }

    // Every row counts, ours or not, so that a transaction that is sent again is numbered alike.
    [[nodiscard]] migration::version next_version() const {
        return {
            .timeline = self.timeline_,
            .lsn = self.transaction_.final_lsn,
            .ordinal = self.ordinal_++};
    }

    template <typename What>
    void append(What&& what, const migration::version& at) const {
        into.push_back(
            {.what = std::forward<What>(what),
             .version = at,
             .transaction = self.transaction_.transaction}
        );
    }
};

translator::translator(const plan& what, std::uint32_t timeline, membership ask)
    : plan_(what), timeline_(timeline), ask_(std::move(ask)) {}

void translator::set_relation(std::uint32_t oid, bool ours) {
    told_[oid] = ours;
}

std::optional<std::string>
translator::feed(const pgoutput::message& from, std::vector<change>& into) {
    return std::visit(feeding{*this, into}, from);
}

std::optional<bool> translator::is_ours(std::uint32_t oid) const {
    if (oid == plan_.table_oid) {
        return true;
    }
    if (const auto told = told_.find(oid); told != told_.end()) {
        return told->second;
    }
    return ask_ && plan_.partitioned ? ask_(oid) : false;
}

translator::fault translator::learn(const pgoutput::relation& from) {
    const auto ours = is_ours(from.id);
    if (!ours) {
        return "it cannot be told whether " + std::string(from.schema) + '.' +
               std::string(from.name) + " is a partition of " + plan_.table;
    }
    auto& known = relations_[from.id];
    known.ours = *ours;
    known.part = from.id == plan_.table_oid ? 0 : from.id;
    known.map = *ours ? map_relation(plan_, from, types_) : relation_map{};
    return std::nullopt;
}

}  // namespace weir::migration
