// What is asked of the catalog of a database, and the order of the columns that come back. All
// text. The proxy runs them on the primary, on a connection of its own; routing/catalog.hpp takes
// the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weir::routing {

enum class catalog_rows : std::uint8_t {
    functions,      // schema, name, volatility (i, s, v), origin
    operators,      // schema, name, schema and name of its function, volatility, origin
    types,          // schema, name, custom (t, f), schema and name of the type under a domain or ""
    domain_checks,  // schema, name, expression
    casts,          // context (i, a, e), schema and name of the target type, of the function
    relations,      // schema, name, relkind, relpersistence, custom (t, f)
    views,          // schema, name, text
    policies,       // schema, name, expression
    inheritance,    // schema and name of the parent, of the child
    row_functions,  // schema and name of the relation, of the function
};

// origin: b built in; e extension code that may be trusted; u user-defined.
// custom: a type with input, output or comparison code that may not be trusted, or a relation with
// a column of one.

struct catalog_query {
    catalog_rows rows;
    std::size_t columns;
    std::string_view sql;
};

// Run first on the connection: names outside pg_catalog then always come with their schema.
[[nodiscard]] std::string_view catalog_setup_sql();

// One row, one column: a text that changes whenever an answer of catalog_queries() may have
// changed, and hardly ever otherwise. It sums hashes over {oid, xmin} of the catalogs concerned:
// every changed row has a new xmin. Temporary objects do not count. A few milliseconds on a catalog
// of ordinary size.
[[nodiscard]] std::string_view catalog_version_sql();

[[nodiscard]] std::span<const catalog_query> catalog_queries();

}  // namespace weir::routing
