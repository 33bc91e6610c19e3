// What one database knows about its functions, operators, types and relations, as far as it decides
// where a read may run. An immutable snapshot: built by one thread, shared with all workers by
// pointer.
//
// Names are kept over all schemas and judged by the worst object of that name, so search_path does
// not matter.
#pragma once

#include "routing/catalog_queries.hpp"
#include "routing/traits.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::routing {

enum class origin : std::uint8_t { built_in, trusted_extension, user };
enum class volatility : std::uint8_t { immutable, stable, changing };

// Overloads of one name, schema, origin and volatility are one entry.
struct catalog_function {
    std::string schema;
    std::string name;
    origin from = origin::user;
    volatility changes = volatility::changing;
};

struct catalog_operator {
    std::string schema;
    catalog_function function;
};

// A check expression, policy or view: text of the server, parsed once when the snapshot is built.
using body_ptr = std::shared_ptr<const traits>;

struct catalog_type {
    std::string schema;
    bool custom = false;               // has code of its own that may not be trusted
    relation_name base;                // of a domain
    std::vector<body_ptr> checks;      // of a domain
    std::vector<function_name> casts;  // untrusted functions that casts to it run
};

struct catalog_relation {
    std::string schema;
    char kind = 0;                             // relkind
    char persistence = 0;                      // relpersistence
    bool custom = false;                       // has a column of a custom type
    std::vector<body_ptr> bodies;              // the view's query, policies
    std::vector<relation_name> children;       // partitions and heirs, read along with it
    std::vector<function_name> row_functions;  // can be called as if they were columns
};

template <class Entry>
using by_name = std::map<std::string, std::vector<Entry>, std::less<>>;

struct catalog {
    std::string version;  // what catalog_version_sql() said before the rows were read
    by_name<catalog_function> functions;
    by_name<catalog_operator> operators;
    by_name<catalog_type> types;
    by_name<catalog_relation> relations;
    // Functions that any statement may run without naming them.
    std::vector<function_name> implicit_casts;
};

using catalog_ptr = std::shared_ptr<const catalog>;

// Takes rows as strings, in the order of catalog_queries().
class catalog_builder {
public:
    // How a text becomes traits; sql_parser in the product.
    using parser = std::function<traits(std::string_view sql)>;

    explicit catalog_builder(parser parse) : parse_(std::move(parse)) {}

    // False: the row does not look like the query's. The snapshot is then not to be trusted,
    // build() gives null.
    bool add(catalog_rows rows, std::span<const std::string_view> row);

    // Leaves the builder empty. Null if a row was wrong or a kind of rows is missing that no
    // database lacks.
    [[nodiscard]] catalog_ptr build(std::string version);

private:
    bool add_function(std::span<const std::string_view> row);
    bool add_operator(std::span<const std::string_view> row);
    bool add_cast(std::span<const std::string_view> row);
    [[nodiscard]] bool dispatch(catalog_rows rows, std::span<const std::string_view> row);
    [[nodiscard]] body_ptr parse(std::string_view before, std::string_view text) const;

    parser parse_;
    catalog catalog_;
    bool wrong_ = false;
};

}  // namespace weir::routing
