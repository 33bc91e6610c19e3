// turbopuffer, API v2 (https://turbopuffer.com/docs). A namespace holds one vector "vector", the
// attributes under their own names (see attributes.hpp), and the version as text, by which writes
// are conditional: an older one leaves the document alone.
#pragma once

#include "migration/store/http_client.hpp"
#include "migration/store/store.hpp"

#include <memory>

namespace weir::migration::store {

// `http.headers` carry the key: "Authorization: Bearer …". Throws std::runtime_error for a URL or a
// CA file that cannot be used. turbopuffer has no inner product: ensure() refuses it.
//
// A namespace comes about with its first document, so ensure() of a new one only remembers that it
// was asked for; reads of it are then empty instead of `missing`. The dimensions and the metric of
// an empty namespace are those of its first document.
//
// Filters on json are refused: such attributes are not indexed.
[[nodiscard]] std::unique_ptr<store> make_turbopuffer(const http_options& http, const layout& what);

}  // namespace weir::migration::store
