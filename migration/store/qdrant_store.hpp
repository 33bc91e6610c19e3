// The adapter itself, see qdrant.hpp.
#pragma once

#include "migration/store/attributes.hpp"
#include "migration/store/json_client.hpp"
#include "migration/store/json_writer.hpp"
#include "migration/store/qdrant_format.hpp"
#include "migration/store/store.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::store {

class qdrant_store final : public store {
public:
    qdrant_store(const http_options& http, const layout& what);

    [[nodiscard]] const abilities& able() const override { return abilities_; }

    result<void> ensure(const std::string& name) override;

    result<written> upsert(const std::string& name, std::span<const document> documents) override;
    result<written> patch(const std::string& name, std::span<const document> documents) override;
    result<written> remove(const std::string& name, std::span<const removal> removals) override;
    result<bool> clear(const std::string& name, std::uint32_t part) override;

    result<std::vector<stored>>
    fetch(const std::string& name, std::span<const key> keys, fields wanted) override;
    result<page> scan(
        const std::string& name,
        const std::string& after,
        std::size_t limit,
        fields wanted
    ) override;
    result<std::uint64_t> count(const std::string& name) override;
    result<std::vector<hit>> search(const std::string& name, const query& what) override;
    result<std::vector<std::string>> namespaces(std::string_view prefix) override;

private:
    // The "result" of the answer to body_.
    result<boost::json::value> call(
        std::string_view method,
        const std::string& name,
        std::string_view path,
        std::string_view purpose
    );
    // The same for a write, which must be complete when the answer comes.
    result<void> write(
        std::string_view method,
        const std::string& name,
        std::string_view path,
        std::string_view purpose
    );
    result<void> create(const std::string& name);
    result<void> check(const std::string& name, const boost::json::value& info);
    result<void> add_index(const std::string& name, std::string_view path, std::string_view type);
    result<void> index_all(const std::string& name, const boost::json::value* present);
    result<std::set<document_id>>
    present(const std::string& name, std::span<const document> documents);
    void write_wanted(fields wanted);
    [[nodiscard]] std::vector<stored> read_points(const boost::json::value* points, fields wanted)
        const;
    result<void> fetch_some(
        const std::string& name,
        std::span<const key> keys,
        fields wanted,
        std::vector<stored>& into
    );

    layout layout_;
    attribute_codec codec_;
    json_client client_;
    abilities abilities_;
    json_writer body_;
};

}  // namespace weir::migration::store
