// Which verbs a migration in a phase does not take. Pure.
#pragma once

#include "migration/command.hpp"
#include "migration/state.hpp"

#include <optional>

namespace weir::migration {

// The refusal of an order that changes the phase; nothing: it may be carried out.
[[nodiscard]] std::optional<reply> refusal_of(verb what, phase now);

}  // namespace weir::migration
