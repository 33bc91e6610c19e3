// Attributes of documents as JSON objects, for stores that hold any: what is written is read back
// exactly, and numbers and texts lie so that the store can filter by them.
#pragma once

#include "migration/document.hpp"
#include "migration/store/ids.hpp"
#include "migration/store/json_writer.hpp"
#include "migration/store/store.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::store {

// Names that no attribute has, see stored_name().
constexpr std::string_view version_name = "pgweir_version";  // in the text form of version.hpp
constexpr std::string_view part_name = "pgweir_part";        // OID of the partition, 0: none
constexpr std::string_view key_name = "pgweir_key";          // see id_map

// What an attribute's column is called in the store: as in the source, unless that is a name of
// ours, of the store ("id", "vector", "$…"), or has characters with a meaning in paths.
[[nodiscard]] std::string stored_name(std::string_view column);

// Writes and reads the members of one object. Values by kind:
//   boolean, integer, timestamp, date, uuid   as they are
//   real      a number; infinities and NaN as the largest double, exactly beside it
//   numeric   the nearest double for filters; exactly beside it
//   text      up to `longest_text` bytes for filters; if that is not all, exactly beside it
//   json      its text
// "Beside" is a member "pgweir_exact_<name>" with a text.
class attribute_codec {
public:
    // `longest_text` 0: no limit.
    attribute_codec(const layout& what, id_map ids, std::size_t longest_text);

    // `nulls`: members without a value are written as null, so that a patch removes what was there.
    void write(json_writer& out, const document& what, bool nulls) const;

    // What was written; false if it is not that. `id` gives the key where it is not stored beside.
    // Attributes are read if `attributes`.
    [[nodiscard]] bool read(
        const boost::json::object& from,
        const document_id& id,
        bool attributes,
        stored& into
    ) const;

    // Names of all members that write() may use, the attributes' only if asked for.
    [[nodiscard]] std::vector<std::string> names(bool attributes) const;

    [[nodiscard]] const id_map& ids() const noexcept { return ids_; }

    [[nodiscard]] const std::string& name(std::size_t attribute) const {
        return names_.at(attribute);
    }

    // Of the member beside; empty if this attribute never has one.
    [[nodiscard]] const std::string& exact_name(std::size_t attribute) const {
        return exact_names_.at(attribute);
    }

    [[nodiscard]] std::size_t longest_text() const noexcept { return longest_text_; }

private:
    [[nodiscard]] value read_one(const boost::json::object& from, std::size_t attribute) const;

    std::vector<column> columns_;
    id_map ids_;
    std::size_t longest_text_;
    std::vector<std::string> names_;
    std::vector<std::string> exact_names_;
};

// The double by which a numeric or real is filtered: the nearest; beyond the range, and for NaN
// (which PostgreSQL sorts last), the largest of that sign.
[[nodiscard]] double filter_number(const value& what);

// At most `limit` bytes of the text (0: all), not ending within a character of UTF-8.
[[nodiscard]] std::string_view filter_text(std::string_view text, std::size_t limit);

}  // namespace weir::migration::store
