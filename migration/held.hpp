// The journal's answers for callers that cannot go on without them.
#pragma once

#include "migration/journal.hpp"
#include "migration/safekeeping.hpp"

#include <stdexcept>
#include <type_traits>
#include <utility>

namespace weir::migration {

// The value; throws `stopped` when another process has the lease, std::runtime_error when the
// journal refuses.
template <typename Value>
Value held(journal_result<Value>&& answer) {
    if (answer.has_error()) {
        if (answer.error().what == journal_fault::fenced) {
            throw stopped();
        }
        throw std::runtime_error("journal: " + answer.error().text);
    }
    if constexpr (!std::is_void_v<Value>) {
        return std::move(*answer);
    }
}

}  // namespace weir::migration
