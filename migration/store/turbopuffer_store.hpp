// The adapter itself, see turbopuffer.hpp.
#pragma once

#include "migration/store/attributes.hpp"
#include "migration/store/json_client.hpp"
#include "migration/store/json_writer.hpp"
#include "migration/store/store.hpp"
#include "migration/store/turbopuffer_format.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::store {

class turbopuffer_store final : public store {
public:
    turbopuffer_store(const http_options& http, const layout& what);

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
    result<boost::json::value>
    post(const std::string& name, std::string_view path, std::string_view purpose);
    result<boost::json::value> ask(const std::string& name, std::string_view purpose);

    void begin_write(std::string_view condition);
    result<void> check(const std::string& name, const boost::json::value& metadata);
    result<void> add_attributes(const std::string& name, const boost::json::value* schema);
    result<written> remove_some(const std::string& name, std::span<const removal> removals);
    result<std::uint64_t>
    remove_at(const std::string& name, std::span<const document_id> ids, const version& limit);
    result<std::map<document_id, version>> versions_of(
        const std::string& name,
        std::span<const document_id> ids,
        std::optional<version> limit
    );
    void write_wanted(fields wanted);
    [[nodiscard]] std::vector<stored> read_rows(const boost::json::value& answer, fields wanted)
        const;
    result<void> fetch_some(
        const std::string& name,
        std::span<const key> keys,
        fields wanted,
        std::vector<stored>& into
    );
    [[nodiscard]] std::vector<document_id> ids_of(std::span<const key> keys) const;

    layout layout_;
    attribute_codec codec_;
    json_client client_;
    std::string schema_;
    abilities abilities_;
    json_writer body_;
    std::set<std::string> unborn_;  // ensured, without a document so far
};

}  // namespace weir::migration::store
