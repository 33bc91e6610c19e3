// The values of one row of the stream, by the places that its relation's map gives.
#pragma once

#include "migration/capture/pgoutput.hpp"
#include "migration/capture/relation_map.hpp"
#include "migration/change.hpp"
#include "migration/codec_error.hpp"
#include "migration/plan.hpp"

#include <optional>
#include <string>

namespace weir::migration {

// Latches the first trouble: read everything, then ask for it. Everything given must outlive this
// object; tuples have as many fields as the map has columns.
class tuple_values {
public:
    // `old` may be null, or be `now` itself (a deleted row).
    tuple_values(
        const plan& what,
        const relation_map& map,
        const pgoutput::tuple& now,
        const pgoutput::tuple* old
    );

    // Unchanged TOASTed values are those of the old tuple where it holds them; else they are marked
    // as not known. `part` is the caller's to set.
    [[nodiscard]] source_row row();

    [[nodiscard]] migration::key old_key();

    // Nothing when the plan has no tenant or the old tuple does not hold it.
    [[nodiscard]] std::optional<value> old_tenant();

    // Why the row cannot be used; empty if it can.
    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

private:
    using field = pgoutput::field;

    [[nodiscard]] const field* old_field(const column_place& place) const;
    [[nodiscard]] const field* current(const column_place& place) const;
    [[nodiscard]] value read(const column& what, const column_place& place, const field& from);
    [[nodiscard]] value read_key(const column& what, const column_place& place, const field* from);
    void read_embedding(source_row& row);
    void complain(const std::string& column, std::string_view why);

    const plan& plan_;
    const relation_map& map_;
    const pgoutput::tuple& now_;
    const pgoutput::tuple* old_;
    std::string trouble_;
};

}  // namespace weir::migration
