// The store in PostgreSQL; postgres.hpp says what it does. postgres.cpp has what concerns tables,
// postgres_rows.cpp what concerns rows.
#pragma once

#include "migration/store/postgres_session.hpp"
#include "migration/store/postgres_table.hpp"
#include "migration/store/store.hpp"

#include <utility>

namespace weir::migration::store {

class postgres_store final : public store {
public:
    postgres_store(source_address where, const layout& rows, std::chrono::milliseconds timeout)
        : rows_(rows), table_(rows), session_(std::move(where), timeout) {
        able_.conditional = true;
        able_.max_documents = 5000;
        able_.max_bytes = std::size_t{16} << 20;
        able_.max_parallel = 4;
    }

    [[nodiscard]] const abilities& able() const override { return able_; }

    [[nodiscard]] result<void> ensure(const std::string& name) override;
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
    [[nodiscard]] result<std::vector<std::string>> namespaces(std::string_view prefix) override;
    [[nodiscard]] result<void> index(const std::string& name) override;

private:
    using parameters = std::vector<std::string>;

    [[nodiscard]] result<sql_rows>
    run(std::string_view what, const std::string& text, const parameters& values);
    [[nodiscard]] result<void> check(const std::string& name, const sql_rows& found) const;
    [[nodiscard]] result<void> create(const std::string& name);
    [[nodiscard]] result<std::vector<stored>> documents_in(const sql_rows& rows, fields wanted);
    void put_fields(parameters& out, std::span<const document> documents) const;
    void put_versions(parameters& out, std::span<const document> documents) const;

    [[nodiscard]] error refusal(const std::string& name, const std::string& why) const {
        return {fault::refused, "postgres: " + name + ": " + why};
    }

    layout rows_;
    postgres_table table_;
    postgres_session session_;
    abilities able_;
};

}  // namespace weir::migration::store
