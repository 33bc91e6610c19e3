#include "migration/store/postgres_names.hpp"

#include "migration/sql.hpp"
#include "migration/store/ids.hpp"

#include <cstddef>

namespace weir::migration::store {
namespace {

constexpr std::size_t longest_name = 63;  // bytes; PostgreSQL's NAMEDATALEN less one

}  // namespace

std::string short_name(std::string_view name) {
    if (name.size() <= longest_name) {
        return std::string(name);
    }
    const auto digest = "~" + uuid_of(name);
    auto kept = longest_name - digest.size();
    while (kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xC0U) == 0x80U) {
        --kept;  // not within a character
    }
    return std::string(name.substr(0, kept)) + digest;
}

std::string table_of(std::string_view name) {
    return "pgweir_store." + quoted_name(short_name(name));
}

std::optional<std::string> namespace_in(std::string_view comment) {
    const auto end = comment.find(": ");
    if (!comment.starts_with("pgweir store, ") || end == std::string_view::npos) {
        return std::nullopt;
    }
    return std::string(comment.substr(end + 2));
}

}  // namespace weir::migration::store
