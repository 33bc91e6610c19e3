// The one table from an internal failure to what the client is told: severity, SQLSTATE, text, what
// to do.
#pragma once

#include "protocol/diagnostic.hpp"
#include "proxy/error.hpp"

namespace weir::proxy {

// An error the session survives (ERROR); the code decides the rest.
[[nodiscard]] protocol::diagnostic client_error(const failure& what);

// The same as FATAL: the connection ends behind it.
[[nodiscard]] protocol::diagnostic client_fatal(const failure& what);

}  // namespace weir::proxy
