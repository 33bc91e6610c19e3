#include "migration/capture/tuple_values.hpp"

#include "migration/value_codec.hpp"
#include "migration/vector_codec.hpp"

#include <utility>

namespace weir::migration {

using pgoutput::field_kind;

tuple_values::tuple_values(
    const plan& what,
    const relation_map& map,
    const pgoutput::tuple& now,
    const pgoutput::tuple* old
)
    : plan_(what), map_(map), now_(now), old_(old) {
    if (now.size() != map.columns || (old != nullptr && old->size() != map.columns)) {
        trouble_ = plan_.schema + "." + plan_.table + ": a row with too few or too many columns";
    }
}

source_row tuple_values::row() {
    source_row made;
    if (!trouble_.empty()) {
        return made;
    }
    made.key.reserve(map_.key.size());
    for (std::size_t i = 0; i < map_.key.size(); ++i) {
        made.key.push_back(read_key(plan_.layout.key[i], map_.key[i], current(map_.key[i])));
    }
    read_embedding(made);
    made.attributes.reserve(map_.attributes.size());
    for (std::size_t i = 0; i < map_.attributes.size(); ++i) {
        const auto& place = map_.attributes[i];
        if (const auto* from = current(place); from != nullptr) {
            made.attributes.push_back(read(plan_.layout.attributes[i], place, *from));
        } else {
            made.attributes.emplace_back();
            made.unknown.push_back(i);
        }
    }
    return made;
}

migration::key tuple_values::old_key() {
    migration::key made;
    for (std::size_t i = 0; i < map_.key.size() && trouble_.empty(); ++i) {
        made.push_back(read_key(plan_.layout.key[i], map_.key[i], old_field(map_.key[i])));
    }
    return made;
}

std::optional<value> tuple_values::old_tenant() {
    if (!plan_.tenant || !trouble_.empty()) {
        return std::nullopt;
    }
    const auto& place = map_.attributes[*plan_.tenant];
    const auto* from = old_field(place);
    if (from == nullptr) {
        return std::nullopt;
    }
    return read(plan_.layout.attributes[*plan_.tenant], place, *from);
}

// Columns outside of the replica identity are null in an old tuple, which says nothing about them.
const pgoutput::field* tuple_values::old_field(const column_place& place) const {
    if (old_ == nullptr || !place.identity) {
        return nullptr;
    }
    const auto& found = (*old_)[place.index];
    return found.kind == field_kind::unchanged ? nullptr : &found;
}

const pgoutput::field* tuple_values::current(const column_place& place) const {
    const auto& found = now_[place.index];
    return found.kind == field_kind::unchanged ? old_field(place) : &found;
}

value tuple_values::read(const column& what, const column_place& place, const field& from) {
    if (from.kind == field_kind::null) {
        return {};
    }
    const auto format = from.kind == field_kind::binary ? value_format::binary : value_format::text;
    auto made = read_value(what.kind, place.type, format, from.bytes);
    if (!made) {
        complain(what.name, to_text(made.error()));
        return {};
    }
    return std::move(*made);
}

value tuple_values::read_key(const column& what, const column_place& place, const field* from) {
    if (from == nullptr) {
        complain(what.name, "is part of the key and was not sent");
        return {};
    }
    auto made = read(what, place, *from);
    if (is_null(made)) {
        complain(what.name, "is part of the key and NULL");
    }
    return made;
}

void tuple_values::read_embedding(source_row& row) {
    const auto* from = current(map_.embedding);
    if (from == nullptr) {
        row.embedding_unknown = true;
        return;
    }
    if (from->kind == field_kind::null) {
        return;
    }
    const auto type = plan_.layout.half ? vector_type::halfvec : vector_type::vector;
    auto made = from->kind == field_kind::binary ? read_vector(from->bytes, type)
                                                 : read_vector_text(from->bytes);
    if (made) {
        row.embedding = std::move(*made);
    } else {
        complain(plan_.embedding, to_text(made.error()));
    }
}

void tuple_values::complain(const std::string& column, std::string_view why) {
    if (trouble_.empty()) {
        trouble_ = plan_.schema + '.' + plan_.table + ": column \"" + column + "\": ";
        trouble_ += why;
    }
}

}  // namespace weir::migration
