// The store in Chroma; chroma.hpp says what it does. chroma.cpp has what writes, chroma_read.cpp
// what reads.
#pragma once

#include "migration/store/chroma_collections.hpp"
#include "migration/store/chroma_documents.hpp"
#include "migration/store/json_writer.hpp"
#include "migration/store/store.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <vector>

namespace weir::migration::store {

class chroma_store final : public store {
public:
    chroma_store(const http_options& options, const layout& rows)
        : rows_(rows), documents_(rows), collections_(options, rows) {
        able_.exact_search = false;
        able_.max_documents = 1000;
        able_.max_bytes = std::size_t{32} << 20;  // the server refuses what is over 40 MiB
    }

    [[nodiscard]] const abilities& able() const override { return able_; }

    [[nodiscard]] result<void> ensure(const std::string& name) override {
        return collections_.ensure(name);
    }

    [[nodiscard]] result<written>
    upsert(const std::string& name, std::span<const document> documents) override;
    [[nodiscard]] result<written>
    patch(const std::string& name, std::span<const document> documents) override;
    [[nodiscard]] result<written> remove(const std::string& name, std::span<const removal> removals)
        override;
    [[nodiscard]] result<bool> clear(const std::string& name, std::uint32_t part) override;
    [[nodiscard]] result<std::vector<stored>>
    fetch(const std::string& name, std::span<const key> keys, fields wanted) override;
    [[nodiscard]] result<page> scan(
        const std::string& name,
        const std::string& after,
        std::size_t limit,
        fields wanted
    ) override;
    [[nodiscard]] result<std::uint64_t> count(const std::string& name) override;
    [[nodiscard]] result<std::vector<hit>> search(const std::string& name, const query& what)
        override;

    [[nodiscard]] result<std::vector<std::string>> namespaces(std::string_view prefix) override {
        return collections_.names(prefix);
    }

private:
    struct range {
        std::int64_t from = 0;
        std::int64_t width = 0;
    };

    // Sends what body_ holds.
    [[nodiscard]] result<boost::json::value> post(const std::string& name, const char* operation);
    [[nodiscard]] result<std::vector<std::string>> get_ids(const std::string& name);
    [[nodiscard]] result<void>
    delete_ids(const std::string& name, std::span<const std::string> ids);
    [[nodiscard]] result<std::vector<stored>>
    get_range(const std::string& name, range places, std::size_t limit, fields wanted);
    [[nodiscard]] result<range>
    range_after(const std::string& name, const std::string& after, std::size_t limit);
    void put_ids(std::span<const std::string> ids);
    void put_include(fields wanted);

    [[nodiscard]] error odd(const std::string& name, const char* operation) const {
        return collections_
            .failure(fault::failed, operation, name, "an answer that makes no sense");
    }

    layout rows_;
    chroma_documents documents_;
    chroma_collections collections_;
    abilities able_;
    json_writer body_;
    std::vector<std::string> cleared_;  // ids of the last round of clear()
};

}  // namespace weir::migration::store
