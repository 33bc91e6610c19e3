// Why a client is not let in.
#pragma once

#include "protocol/diagnostic.hpp"

#include <optional>
#include <string>

namespace weir::proxy::client {

struct rejection {
    std::optional<protocol::diagnostic> told;  // to the client, FATAL; none: closed without a word
    std::string reason;                        // for the log; empty: not worth a line
    bool delayed = false;                      // told later, so that guessing is slow
};

}  // namespace weir::proxy::client
