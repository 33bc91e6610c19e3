// Chroma (REST, v2): a collection for each namespace.
#pragma once

#include "migration/store/http_client.hpp"
#include "migration/store/store.hpp"

#include <memory>

namespace weir::migration::store {

// `options.url` is the server's, or that of a database in it: "…/api/v2/tenants/T/databases/D". A
// key goes into `options.headers` as x-chroma-token.
//
// Chroma has no conditional write and slows down with several writers, so there is one. An upsert
// merges metadata with what is there; what is NULL is therefore sent as such. Embeddings are not
// normalised; searches are approximate always. Throws what http_client does.
[[nodiscard]] std::unique_ptr<store> make_chroma(const http_options& options, const layout& rows);

}  // namespace weir::migration::store
