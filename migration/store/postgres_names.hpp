// What tables and indexes of namespaces are called. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::migration::store {

// "pgweir_store"."org-17". What a name beyond 63 bytes is cut to holds a hash of the whole.
[[nodiscard]] std::string table_of(std::string_view name);
// The name alone, not quoted, for a table or an index.
[[nodiscard]] std::string short_name(std::string_view name);
// The namespace that a table's comment tells of; none if pgweir has not made it.
[[nodiscard]] std::optional<std::string> namespace_in(std::string_view comment);

}  // namespace weir::migration::store
