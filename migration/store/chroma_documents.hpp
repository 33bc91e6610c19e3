// Documents as Chroma has them: an id, an embedding, and metadata of numbers, truth values and
// texts. Pure.
#pragma once

#include "migration/store/attributes.hpp"
#include "migration/store/filter.hpp"
#include "migration/store/json_writer.hpp"
#include "migration/store/store.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::store {

// Metadata is what attribute_codec writes, and
//   pgweir_null_<attribute>   true where it is NULL: Chroma cannot ask for what is not there
//   pgweir_real_<attribute>   a real as text where Chroma does not read the number exactly
//   pgweir_place              a hash of the id, by which a scan goes
class chroma_documents {
public:
    explicit chroma_documents(const layout& rows);

    // Places are below this.
    static constexpr std::int64_t places = std::int64_t{1} << 62;

    [[nodiscard]] std::string id_of(const key& what) const;

    // Why the document cannot be stored; empty: it can.
    [[nodiscard]] std::string flaw_of(const document& what) const;

    // "metadatas": [ … ]. What is NULL is written as null, or what was there would stay.
    void put_metadata(json_writer& out, std::span<const document> documents) const;

    enum class outcome : std::uint8_t { written, never, foreign };

    // "where": { … }, or nothing for no conditions. Never: no document can pass. Foreign: Chroma
    // does not compare such values so.
    [[nodiscard]] outcome put_filter(json_writer& out, const std::vector<condition>& filter) const;

    // A filter for the documents with places from `from` to before `to`.
    static void put_range(json_writer& out, std::int64_t from, std::int64_t to);
    // … of the partition.
    static void put_part(json_writer& out, std::uint32_t part);

    // From the answer to get; nullopt if it makes no sense. Documents that pgweir has not written
    // are left out.
    [[nodiscard]] std::optional<std::vector<stored>>
    read(const boost::json::value& answer, fields wanted) const;

    // From the answer to query, likewise; distances are pgvector's.
    [[nodiscard]] std::optional<std::vector<hit>> read_hits(const boost::json::value& answer) const;

    // Keys are to be found in metadata.
    [[nodiscard]] bool stores_keys() const { return codec_.ids().stores_keys(); }

private:
    void put_bound(json_writer& out, std::size_t attribute, const bound& what) const;
    void read_reals(const boost::json::value& metadata, std::vector<value>& into) const;

    layout rows_;
    attribute_codec codec_;
    std::vector<std::string> null_names_;
    std::vector<std::string> real_names_;  // empty: another kind
};

}  // namespace weir::migration::store
