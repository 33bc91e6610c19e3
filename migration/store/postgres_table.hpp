// The statements about the table of a namespace, made from the layout once. Pure.
#pragma once

#include "migration/store/store.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::migration::store {

// Rows go to the server as one array for each column (see postgres_values.hpp), which takes the
// server less time than a statement for each row, or than COPY into a temporary table.
class postgres_table {
public:
    struct field {
        std::string name;
        value_kind kind;
        std::string type;  // in the table: "character varying(20)"
        std::string bare;  // without what stands in parentheses: what values are compared as
    };

    explicit postgres_table(const layout& rows);

    // The key's columns, then the attributes that are not in the key.
    [[nodiscard]] const std::vector<field>& all_fields() const noexcept { return fields_; }

    [[nodiscard]] std::size_t keys() const noexcept { return keys_; }

    // Which of the fields an attribute is.
    [[nodiscard]] std::size_t field_of(std::size_t attribute) const {
        return field_of_attribute_[attribute];
    }

    // "vector(1536)", and the comment of the table of this namespace.
    [[nodiscard]] std::string embedding_type() const;
    [[nodiscard]] std::string comment(std::string_view name) const;

    // Names and types of all columns, a line each, sorted, as the query for them answers.
    [[nodiscard]] std::string columns() const;

    // `table` is quoted and qualified, see table_of(). Parameters, unless it is said: the fields as
    // arrays, the embeddings, versions and parts as arrays; of the keys alone where only they
    // count.
    [[nodiscard]] std::string create(const std::string& table, std::string_view name) const;
    [[nodiscard]] std::string upsert(const std::string& table) const;
    // Without embeddings. Rows (false, how many were written), and (true, index) for each that is
    // not there.
    [[nodiscard]] std::string patch(const std::string& table) const;
    [[nodiscard]] std::string remove(const std::string& table) const;  // keys, versions
    [[nodiscard]] std::string fetch(const std::string& table, fields wanted) const;  // keys
    // Parameters: the last key, if `after`. Columns as of fetch.
    [[nodiscard]] std::string
    scan(const std::string& table, bool after, std::size_t limit, fields wanted) const;
    // Parameters: the embedding, then the operands of the filter. Columns: the key, the distance.
    [[nodiscard]] std::string search(const std::string& table, const query& what) const;
    [[nodiscard]] std::string index(const std::string& table, const std::string& index, bool vchord)
        const;

private:
    [[nodiscard]] std::string rows(std::size_t fields, const std::vector<std::string>& more) const;
    [[nodiscard]] std::string same_key(std::string_view left, std::string_view right) const;
    [[nodiscard]] std::string key_names(std::string_view of = {}) const;
    [[nodiscard]] std::string wanted_columns(fields wanted) const;
    [[nodiscard]] std::string holds(const condition& what, std::size_t parameter) const;
    [[nodiscard]] bool indexed_as_half() const;

    std::vector<field> fields_;
    std::vector<std::size_t> field_of_attribute_;
    std::size_t keys_ = 0;
    std::string embedding_;  // the column's name, quoted
    layout rows_;
};

}  // namespace weir::migration::store
