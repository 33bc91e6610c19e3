// Qdrant over its REST interface (https://api.qdrant.tech). A collection has one unnamed vector;
// its payload holds the attributes under their own names (see attributes.hpp).
#pragma once

#include "migration/store/http_client.hpp"
#include "migration/store/store.hpp"

#include <memory>

namespace weir::migration::store {

// `http.headers` carry the key, if there is one: "api-key: …". Throws std::runtime_error for a URL
// or a CA file that cannot be used.
//
// Qdrant compares numbers as doubles and takes one condition for a whole request, so writes are not
// conditional. It normalises vectors for cosine. Texts and UUIDs are filtered by equality only;
// what else is asked of them is refused.
[[nodiscard]] std::unique_ptr<store> make_qdrant(const http_options& http, const layout& what);

}  // namespace weir::migration::store
