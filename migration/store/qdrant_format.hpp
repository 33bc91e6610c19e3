// How pgweir's documents and conditions look in Qdrant's requests. Pure.
#pragma once

#include "migration/store/attributes.hpp"
#include "migration/store/json_writer.hpp"
#include "migration/store/store.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::store::qdr {

[[nodiscard]] std::string_view metric_name(metric what);
[[nodiscard]] std::string_view datatype(const layout& what);

// Of a payload index for such values; nothing for kinds that are not filtered.
[[nodiscard]] std::optional<std::string_view> index_type(value_kind kind);

// A name as a path into the payload: quoted where it has characters with a meaning there.
[[nodiscard]] std::string payload_path(std::string_view name);

void write_id(json_writer& out, const document_id& id);

// As pgvector computes it, from what Qdrant calls the score.
[[nodiscard]] double distance_of(metric what, double score);

enum class filter_state : std::uint8_t {
    usable,   // `json` is a filter
    never,    // nothing can match
    foreign,  // Qdrant cannot do it
};

struct filter_text_result {
    filter_state is = filter_state::usable;
    std::string json{};  // empty: no condition
};

[[nodiscard]] filter_text_result
filter_of(const std::vector<condition>& all, const layout& what, const attribute_codec& codec);

}  // namespace weir::migration::store::qdr
