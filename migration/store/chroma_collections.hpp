// Chroma's collections: names, ids, and requests to them.
#pragma once

#include "migration/store/json_client.hpp"
#include "migration/store/store.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weir::migration::store {

// What a namespace's collection is called: the name itself where Chroma allows it, else "pgweir-x-"
// and the name with all but letters and digits in hexadecimal. Empty: the name is too long.
[[nodiscard]] std::string collection_name(std::string_view name);

// Threads: one at a time.
class chroma_collections {
public:
    chroma_collections(const http_options& options, const layout& rows);

    [[nodiscard]] result<void> ensure(const std::string& name);

    // A request to "…/collections/<id>/<operation>". The id is looked up once, and again when the
    // server does not know it any more.
    [[nodiscard]] result<boost::json::value>
    call(const std::string& name, const char* method, const char* operation, std::string_view body);

    [[nodiscard]] result<std::vector<std::string>> names(std::string_view prefix);

    [[nodiscard]] error failure(
        fault what,
        const char* operation,
        const std::string& name,
        std::string_view said
    ) const;

private:
    struct collection {
        std::string id;
        std::string refusal;  // why it is not one for this layout; empty: it is
    };

    [[nodiscard]] result<boost::json::value> send(
        const char* method,
        const std::string& target,
        std::string_view body,
        const std::string& purpose
    );
    [[nodiscard]] result<collection> look_up(const std::string& name);
    [[nodiscard]] result<std::string> id_of(const std::string& name);
    [[nodiscard]] result<void> create(const std::string& name);
    [[nodiscard]] std::string
    refusal_of(const std::string& name, const boost::json::value& described) const;

    json_client client_;
    layout rows_;
    std::string base_;                                  // "…/collections"
    std::unordered_map<std::string, std::string> ids_;  // at most `most_known`
};

}  // namespace weir::migration::store
