// How pgweir's documents and conditions look in turbopuffer's requests. Pure.
#pragma once

#include "migration/store/attributes.hpp"
#include "migration/store/json_writer.hpp"
#include "migration/store/store.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::store::tpuf {

// https://turbopuffer.com/docs/limits: bytes of a text that can be filtered by, and of a text id.
constexpr std::size_t longest_filterable = 4096;
constexpr std::size_t longest_id = 64;
// Documents of one query.
constexpr std::size_t longest_answer = 10'000;

[[nodiscard]] std::string_view metric_name(metric what);

// "[1536]f32"
[[nodiscard]] std::string vector_type(const layout& what);

struct attribute_type {
    std::string name;
    std::string type;
    bool filterable = true;
};

// All attributes but the id and the vector.
[[nodiscard]] std::vector<attribute_type>
attribute_types(const layout& what, const attribute_codec& codec);

// The value of "schema" in a write; `whole`: with the id and the vector.
[[nodiscard]] std::string schema_of(const layout& what, const attribute_codec& codec, bool whole);

void write_id(json_writer& out, const document_id& id);
// ["id","In",[…]]
void write_ids_filter(json_writer& out, std::span<const document_id> ids);
// ["pgweir_version","Lte","…"]
void write_version_limit(json_writer& out, const version& limit);

enum class filter_state : std::uint8_t {
    usable,   // `json` is a filter
    never,    // nothing can match
    foreign,  // turbopuffer cannot do it
};

struct filter_text_result {
    filter_state is = filter_state::usable;
    std::string json{};  // empty: no condition
};

// In turbopuffer "Lt" and "Lte" hold for null: they get a companion that does not.
[[nodiscard]] filter_text_result
filter_of(const std::vector<condition>& all, const layout& what, const attribute_codec& codec);

}  // namespace weir::migration::store::tpuf
