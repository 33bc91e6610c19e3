// What is written to a store, and what is read back.
#pragma once

#include "migration/value.hpp"
#include "migration/version.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::migration {

struct document {
    migration::key key;
    std::vector<float> embedding;   // finite numbers; empty in a patch
    std::vector<value> attributes;  // in the plan's order
    migration::version version;
    std::uint32_t part = 0;  // OID of the partition that holds the row; 0: the table has none
};

// A delete. Versions of one call may differ.
struct removal {
    migration::key key;
    migration::version version;
};

// A document as a store holds it. Members that were not asked for are empty.
struct stored {
    migration::key key;
    std::vector<float> embedding;
    std::vector<value> attributes;
    migration::version version;
    std::uint32_t part = 0;
};

}  // namespace weir::migration
