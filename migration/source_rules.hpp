// What a table must be like to be followed. For source.cpp and its test.
#pragma once

#include "config/config.hpp"
#include "migration/check.hpp"
#include "migration/source_table.hpp"
#include "migration/store/store.hpp"

#include <string>
#include <vector>

namespace weir::migration {

// Each check adds what it finds to `out`, at least one line of its name.
class source_rules {
public:
    source_rules(
        const config::migration& intent,
        const source_table& table,
        std::vector<check>& out
    )
        : intent_(intent), table_(table), out_(out) {}

    // A permanent table whose rows the role can read, all of them.
    void check_table();

    // Columns that are there and of a type that is supported.
    void find_columns(
        const std::vector<std::string>& names,
        const std::string& what,
        std::vector<column>& found
    );

    // vector(n) or halfvec(n), also under domains.
    void find_embedding(store::layout& layout);

    // The key names one row, now and later.
    void check_key();

    // Every leaf's UPDATEs and DELETEs carry the key. With `outbox` the trigger sees old rows.
    void check_identity();

    // Where the namespace is the tenant's: it is never NULL, and deletes and moves carry it.
    void check_tenant();

    // Operator classes of ANN indexes against the metric.
    void check_metric();

private:
    [[nodiscard]] const source_column* column_of(const std::string& name) const;
    [[nodiscard]] bool tenant_names_namespace() const;
    [[nodiscard]] std::string identity_advice(bool with_tenant) const;
    void add(std::string name, verdict result, std::string text);

    const config::migration& intent_;
    const source_table& table_;
    std::vector<check>& out_;
};

}  // namespace weir::migration
