#include "migration/capture/relation_map.hpp"

#include "migration/value_codec.hpp"

#include <algorithm>
#include <optional>

namespace weir::migration {
namespace {

// Finds columns and says what is wrong with the first that does not fit.
class matching {
public:
    matching(const pgoutput::relation& from, const type_names& types)
        : relation_(from), types_(types) {}

    column_place key_column(const column& wanted) {
        const auto place = plain_column(wanted);
        if (place.index < relation_.columns.size() && !place.identity) {
            complain(wanted.name, "is not in the replica identity any more");
        }
        return place;
    }

    column_place plain_column(const column& wanted) {
        const auto* found = find(wanted.name);
        if (found == nullptr) {
            return missing();
        }
        if (!same_kind(wanted.kind, found->type)) {
            complain(wanted.name, "has another type than " + wanted.type);
        }
        return place_of(*found);
    }

    column_place embedding(const plan& what) {
        const auto* found = find(what.embedding);
        if (found == nullptr) {
            return missing();
        }
        const std::string_view wanted = what.layout.half ? "halfvec" : "vector";
        const auto dimensions = static_cast<std::int64_t>(what.layout.dimensions);
        if (base_name(found->type) != wanted) {
            complain(what.embedding, "has another type than " + std::string(wanted));
        } else if (found->modifier >= 0 && found->modifier != dimensions) {
            complain(
                what.embedding,
                "has " + std::to_string(found->modifier) + " dimensions instead of " +
                    std::to_string(dimensions)
            );
        }
        return place_of(*found);
    }

    [[nodiscard]] std::string take_trouble() { return std::move(trouble_); }

private:
    const pgoutput::relation_column* find(std::string_view name) {
        const auto& all = relation_.columns;
        const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) {
            return each.name == name;
        });
        if (found == all.end()) {
            complain(name, "is missing: it was dropped or renamed");
            return nullptr;
        }
        return &*found;
    }

    [[nodiscard]] column_place missing() const {
        return {.index = relation_.columns.size(), .type = 0, .identity = false};
    }

    [[nodiscard]] column_place place_of(const pgoutput::relation_column& found) const {
        return {
            .index = static_cast<std::size_t>(&found - relation_.columns.data()),
            .type = found.type,
            .identity = found.identity};
    }

    // "schema.name" of a type that is not built in, or "".
    [[nodiscard]] std::string_view full_name(std::uint32_t type) const {
        const auto found = types_.find(type);
        return found == types_.end() ? std::string_view() : found->second;
    }

    [[nodiscard]] std::string_view base_name(std::uint32_t type) const {
        const auto full = full_name(type);
        return full.substr(full.rfind('.') + 1);
    }

    [[nodiscard]] bool same_kind(value_kind wanted, std::uint32_t type) const {
        if (const auto kind = kind_of(type, 'b')) {
            return *kind == wanted;
        }
        const auto full = full_name(type);
        if (full.starts_with('.')) {  // a domain over a built-in type
            return kind_of(full.substr(1)) == wanted;
        }
        return !full.empty() && wanted == value_kind::text;  // an enumeration
    }

    void complain(std::string_view column, const std::string& what) {
        if (trouble_.empty()) {
            trouble_ = std::string(relation_.schema) + '.' + std::string(relation_.name) +
                       ": column \"" + std::string(column) + "\" " + what;
        }
    }

    const pgoutput::relation& relation_;
    const type_names& types_;
    std::string trouble_;
};

}  // namespace

relation_map
map_relation(const plan& what, const pgoutput::relation& from, const type_names& types) {
    matching match(from, types);
    relation_map made;
    made.columns = from.columns.size();
    for (const auto& column : what.layout.key) {
        made.key.push_back(match.key_column(column));
    }
    made.embedding = match.embedding(what);
    for (const auto& column : what.layout.attributes) {
        made.attributes.push_back(match.plain_column(column));
    }
    made.trouble = match.take_trouble();
    return made;
}

}  // namespace weir::migration
