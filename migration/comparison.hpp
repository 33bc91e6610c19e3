// Whether a store holds what the source has. Pure.
#pragma once

#include "migration/document.hpp"
#include "migration/store/store.hpp"

#include <cstdint>
#include <string>

namespace weir::migration {

enum class difference : std::uint8_t {
    none,
    missing,     // the store lacks the document
    extra,       // the store has a document that the source has not (or not in this namespace)
    embedding,   // other numbers
    attributes,  // other values
};

[[nodiscard]] std::string_view to_string(difference what);

// `source` and `held` have the same key. Numbers are compared in the precision that the store keeps
// (layout.half), and by direction where it normalises.
[[nodiscard]] difference compare(
    const document& source,
    const stored& held,
    const store::layout& layout,
    const store::abilities& able
);

}  // namespace weir::migration
